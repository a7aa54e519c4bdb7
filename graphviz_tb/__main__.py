"""Entry point of `python -m graphviz_tb` and `tbgraph`. Small, so that Ctrl-C works while the rest is imported."""

import gc
import sys

END_SIGNALS = ("SIGTERM", "SIGHUP")  # signals by which systems and terminals end a command


class Terminated(BaseException):
    """A signal asked the command to end. Nothing may catch it; half-written files are removed on the way out."""


def main() -> None:
    """Run the command line and exit with its code: 130 after Ctrl-C at any time, 143 after SIGTERM."""
    try:
        import signal
        import unicodedata  # noqa: F401  # names of letters are compiled with it: else Ctrl-C then is a SyntaxError

        for number in (getattr(signal, name) for name in END_SIGNALS if hasattr(signal, name)):  # Windows has no SIGHUP
            if signal.getsignal(number) == signal.SIG_DFL:  # `nohup` ignores it
                signal.signal(number, _raise_terminated)
        import os

        # The threads that numpy starts on import, for matrix products, cost a third of a small picture. Only the
        # projector multiplies matrices, and with one thread it gives the same bytes on every machine.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from graphviz_tb.commands import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Terminated as ended:
        sys.exit(ended.args[0])
    finally:
        gc.freeze()  # a last collection of objects that go with the process anyway takes longer than a small picture


def _raise_terminated(number: int, frame: object) -> None:
    """Raise `Terminated`, so that the process cleans up and exits with the usual code of a signal."""
    raise Terminated(128 + number)


if __name__ == "__main__":
    main()
