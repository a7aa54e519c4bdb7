"""Collections of a MetaGraphDef: which variables the program trains, as `tf.train.Saver` of TensorFlow 1 writes it."""

from __future__ import annotations

from collections.abc import Iterator

from graphviz_tb.formats.protobuf import BYTES_TYPE, CutError, wire_fields
from graphviz_tb.model.graph import TRAINABLE_ATTR
from graphviz_tb.ops.roles import VARIABLE_OPS
from graphviz_tb.proto import CollectionDef, MetaGraphDef

TRAINED = "trainable_variables"  # tf.compat.v1.GraphKeys
KNOWN = ("variables", "global_variables", "model_variables", "local_variables", TRAINED)
VARIABLE_NAME = 1  # VariableDef of TensorFlow's variable.proto


def mark_trained(graph: MetaGraphDef) -> None:
    """Write on the variables of a graph that was just decoded whether its collections list them as trained; nothing is
    written where no collection does."""
    if TRAINED not in graph.collection_def:
        return
    trained = set(_listed_names(graph.collection_def[TRAINED]))
    known = {name for key in KNOWN if key in graph.collection_def for name in _listed_names(graph.collection_def[key])}
    for node in graph.graph_def.node if trained else ():
        if node.op in VARIABLE_OPS and node.name in known:
            node.attr[TRAINABLE_ATTR].b = node.name in trained


def _listed_names(collection: CollectionDef) -> Iterator[str]:
    for value in collection.bytes_list.value:
        try:
            for piece in wire_fields(value):
                if piece.number == VARIABLE_NAME and piece.wire == BYTES_TYPE:
                    yield value[piece.first : piece.last].decode().removesuffix(":0")
        except (CutError, UnicodeDecodeError):
            continue  # of another kind than variables
