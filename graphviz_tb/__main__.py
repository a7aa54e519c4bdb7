"""`python -m graphviz_tb`, and the command `tbgraph`: so small that Ctrl-C is understood while the rest is imported."""

import gc
import sys


def main() -> None:
    """Run the command line and exit with its code; 130 after Ctrl-C, whenever it comes."""
    try:
        from graphviz_tb.commands import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()  # a last walk over all that goes with the process takes longer than to draw a small picture


if __name__ == "__main__":
    main()
