"""tbgraph: the package `graphviz_tb` under the name of its command.

>>> import tbgraph, graphviz_tb
>>> tbgraph is graphviz_tb
True
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import graphviz_tb

if TYPE_CHECKING:
    from graphviz_tb import *  # noqa: F403

sys.modules[__name__] = graphviz_tb
