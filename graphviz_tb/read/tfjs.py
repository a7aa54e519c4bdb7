"""`model.json` of TensorFlow.js: its topology is the JSON of a Keras model, or a GraphDef as JSON.

{"format": "layers-model", "modelTopology": {"model_config": …}, "weightsManifest": …}
{"format": "graph-model", "modelTopology": {"node": […], "library": …}, "weightsManifest": …}
"""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.json_format import Error, ParseDict

from graphviz_tb.errors import MalformedText
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.holding import GraphContent

TOPOLOGY_KEY = "modelTopology"


def model_topology(parsed: Any) -> Any:
    """Return the topology in the JSON of a TensorFlow.js model; any other JSON unchanged."""
    return parsed[TOPOLOGY_KEY] if isinstance(parsed, dict) and isinstance(parsed.get(TOPOLOGY_KEY), dict) else parsed


def is_json_graph(parsed: Any) -> bool:
    """Return whether JSON is a GraphDef.

    >>> (
    ...     is_json_graph({"node": [{"name": "x", "op": "Placeholder"}]}),
    ...     is_json_graph({"class_name": "Sequential", "node": []}),
    ... )
    (True, False)
    """
    if not isinstance(parsed, dict) or "class_name" in parsed or not isinstance(parsed.get("node"), list):
        return False
    return all(isinstance(node, dict) and isinstance(node.get("name"), str) for node in parsed["node"])


def json_graph_content(parsed: dict[str, Any], name: str) -> GraphContent:
    """Return the graph of a GraphDef as JSON. Raises MalformedText if a value does not fit its field."""
    try:
        # Unknown fields, of later versions, are skipped as in a binary graph; weights are in separate files.
        return GraphContent(ParseDict(parsed, GraphDef(), ignore_unknown_fields=True))
    except (Error, ValueError, TypeError, RecursionError) as error:
        said = json.dumps(str(error)[:200])
        raise MalformedText(f"no GraphDef as JSON: {said}", line=1, column=1, name=name) from None
