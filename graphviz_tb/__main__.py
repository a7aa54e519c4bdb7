"""`python -m graphviz_tb` is `tbgraph`."""

from graphviz_tb.commands import main

if __name__ == "__main__":
    main()
