"""Run tbgraph from a checkout: `python cli.py render MODEL -o graph.svg`."""

from graphviz_tb.commands import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
