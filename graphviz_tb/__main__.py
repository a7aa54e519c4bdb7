"""`python -m graphviz_tb`, and the command `tbgraph`: so small that Ctrl-C is understood while the rest is imported."""

import sys


def main() -> None:
    """Run the command line and exit with its code; 130 after Ctrl-C, whenever it comes."""
    try:
        from graphviz_tb.commands import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
