"""Entry point of `python -m graphviz_tb` and `tbgraph`; small, so that Ctrl-C is handled while the rest is imported."""

import gc
import sys

ENDS = ("SIGTERM", "SIGHUP")  # by which systems and terminals end a command


class Ended(BaseException):
    """A signal asked the command to end. Nothing may catch it, and half-written files are removed."""


def main() -> None:
    """Run the command line and exit with its code; 130 after Ctrl-C, whenever it comes, 143 after SIGTERM."""
    try:
        import signal
        import unicodedata  # noqa: F401  # names of letters are compiled with it: else Ctrl-C then is a SyntaxError

        for number in (getattr(signal, name) for name in ENDS if hasattr(signal, name)):  # Windows has no SIGHUP
            if signal.getsignal(number) == signal.SIG_DFL:  # `nohup` ignores it
                signal.signal(number, end)
        import os

        # Threads that numpy starts when it is imported, for products of matrices, cost a third of a small picture. Only
        # the projector multiplies, and with one thread it gives the same bytes on every machine.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from graphviz_tb.commands import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except Ended as ended:
        sys.exit(ended.args[0])
    finally:
        gc.freeze()  # a last walk over all that goes with the process takes longer than to draw a small picture


def end(number: int, frame: object) -> None:
    """End as a program does that a signal ended, but tidy up."""
    raise Ended(128 + number)


if __name__ == "__main__":
    main()
