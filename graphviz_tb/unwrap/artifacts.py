"""Remove tracing artifacts: nodes and functions that tracing and lowering add. They are neither drawn nor counted.

barriers   the NoOp that makes the results of a traced function wait for its reads and writes, and NoOps that only
           barriers wait for
results    identities between an op and the results of a traced function ("identity_RetVal")
arguments  unused placeholders that freezing left in place of the inputs of a loop
rewritten  functions that gradients replaced by another form ("body_7_rewritten") and that nothing calls
borders    forwarding identities and NoOps where a call or loop was inlined ("Func/…/input/_7")
tuples     tuples that a PyTorch trace packs and unpacks, so that each tensor seems to depend on all
copies     nodes of an op for its further results: in a PyTorch trace, an LSTM is three nodes
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.node_columns import NodeColumns
from graphviz_tb.limits import MAX_INLINED_LETTERS
from graphviz_tb.ops.roles import GROUP_OPS, INPUT_OPS, RESULT_OPS, TRACED_RESULT_OPS
from graphviz_tb.proto import GraphDef, NodeDef, TensorShapeProto
from graphviz_tb.unwrap.calls import input_node, reachable_functions, tensor_inputs

BARRIER_NAME = compile_on_use(r"NoOp(_\d+)?", re.ASCII)  # names from tracing have no scope
RESULT_IDENTITY_NAME = compile_on_use(r"Identity(_\d+)?", re.ASCII)
LOWERED_INPUT_NAME = "unused_control_flow_input"  # left by the inliner of functional loops
FROZEN_ARGUMENT_NAME = compile_on_use(rf"{LOWERED_INPUT_NAME}(_\d+)?", re.ASCII)
# Names from TensorFlow's core/common_runtime/inline_function_utils.cc.
INLINED_BORDER_NAME = compile_on_use(r"Func/.*/(input|output)(_control_node)?/_\d+", re.ASCII | re.DOTALL)
REWRITTEN_SUFFIX = "_rewritten"  # python/ops/while_v2.py, cond_v2.py
ARTIFACT_PREFIXES = (*sorted(GROUP_OPS), LOWERED_INPUT_NAME, "Func/")
TUPLE_OP, ELEMENT_OP = "prim::TupleConstruct", "prim::TupleUnpack"  # a trace has a node for each element
RESULT_COUNTS = {"aten::lstm": 3} | dict.fromkeys(
    ("aten::gru", "aten::rnn_tanh", "aten::rnn_relu", "aten::lstm_cell", "aten::topk", "aten::sort"), 2
)
ARTIFACT_OPS = GROUP_OPS | INPUT_OPS | TRACED_RESULT_OPS | RESULT_OPS | {TUPLE_OP, ELEMENT_OP, *RESULT_COUNTS}
SHAPES = "_output_shapes"


def possible_artifacts(graph: GraphDef) -> dict[str, NodeDef]:
    """Return the nodes, by name, whose op types occur among artifacts."""
    return {node.name: node for node in graph.node if node.op in ARTIFACT_OPS}


def may_have_artifacts(nodes: NodeColumns) -> bool:
    """Return whether a graph without functions may contain artifacts, by op types and prefixes of names."""
    types = [number for op, number in nodes.op_numbers.items() if op in ARTIFACT_OPS]
    # An identity is an artifact only before the results of a function.
    has_results = any(op in RESULT_OPS for op in nodes.op_numbers)
    prefixes = (*ARTIFACT_PREFIXES, *sorted(TRACED_RESULT_OPS)) if has_results else ARTIFACT_PREFIXES
    rows = np.flatnonzero(np.bincount(types, minlength=len(nodes.op_types))[nodes.op_id]) if types else ()
    traced = (ELEMENT_OP, *RESULT_COUNTS)
    return any(op in nodes.op_numbers for op in traced) or any(nodes.name[row].startswith(prefixes) for row in rows)


def drop_tracing_artifacts(graph: GraphDef, suspects: Mapping[str, NodeDef]) -> GraphDef:
    """Remove artifacts. `suspects` come from `possible_artifacts`. Returns the same graph if there are none."""
    return _drop_rewritten_functions(_drop_artifact_nodes(graph, suspects))


def _drop_artifact_nodes(graph: GraphDef, suspects: Mapping[str, NodeDef]) -> GraphDef:
    """Remove artifacts among the nodes. Returns the same graph if there are none."""
    # Most graphs have none: return without a copy.
    artifact_ops = (*RESULT_OPS, ELEMENT_OP, *RESULT_COUNTS)
    if not any(name.startswith(ARTIFACT_PREFIXES) or node.op in artifact_ops for name, node in suspects.items()):
        return graph
    borders = {name for name in suspects if INLINED_BORDER_NAME.fullmatch(name) and suspects[name].op not in INPUT_OPS}
    inputs = GraphInputs(graph)
    borders |= _traced_result_identities(inputs, suspects)
    removed = borders | _unused_frozen_arguments(inputs, suspects) | _traced_barriers(inputs, suspects)
    elements, tuples = _traced_tuples(inputs, suspects)
    results = _tensors_of_result_nodes(inputs)
    elements |= results
    borders |= elements.keys()
    removed |= elements.keys() | tuples
    if not removed:
        return graph
    first_inputs = {name: tensor_inputs(suspects[name])[0] for name in borders if tensor_inputs(suspects[name])}
    forwarded = _resolve_forwarded(first_inputs | elements)
    # A forwarded name may be long and used thousands of times: keep the borders then.
    if sum(inputs.uses[name] * len(tensor) for name, tensor in forwarded.items()) > MAX_INLINED_LETTERS:
        removed -= borders
    cleaned = GraphDef(versions=graph.versions, library=graph.library)
    removed_texts = {text for text, name in inputs.node_of.items() if name in removed}
    kept_nodes = [(node, texts) for node, texts in inputs.of_nodes if node.name not in removed]
    cleaned.node.extend([node for node, _ in kept_nodes])
    for position, (node, texts) in enumerate(kept_nodes if removed_texts else ()):
        if not removed_texts.isdisjoint(texts):
            cleaned.node[position].input[:] = _rewired_inputs(node, removed, forwarded)
    shapes: dict[str, list[TensorShapeProto]] = {}
    for name, tensor in results.items():
        shapes.setdefault(input_node(tensor), []).extend(suspects[name].attr[SHAPES].list.shape)
    for node in cleaned.node if shapes else ():
        if node.name in shapes:
            node.attr[SHAPES].list.shape.extend(shapes[node.name])
    return cleaned


class GraphInputs:
    """The inputs of a graph, listed once, with the number of uses of each string and of each node."""

    def __init__(self, graph: GraphDef) -> None:
        self.of_nodes: list[tuple[NodeDef, Sequence[str]]] = [(node, list(node.input)) for node in graph.node]
        self.count = _count_input_strings(texts for _, texts in self.of_nodes)
        self.node_of = {text: input_node(text) for text in self.count}
        self.uses = _sum_by_node(self.count, self.node_of)


def _count_input_strings(inputs: Iterable[Iterable[str]]) -> Counter[str]:
    return Counter(chain.from_iterable(inputs))


def _sum_by_node(count: Mapping[str, int], node_of: Mapping[str, str]) -> Counter[str]:
    """Sum input counts by node.

    >>> _sum_by_node({"x": 1, "x:1": 2, "y": 1}, {"x": "x", "x:1": "x", "y": "y"})
    Counter({'x': 3, 'y': 1})
    """
    uses: Counter[str] = Counter()
    for text, times in count.items():
        uses[node_of[text]] = uses.get(node_of[text], 0) + times
    return uses


def _drop_rewritten_functions(graph: GraphDef) -> GraphDef:
    library = {function.signature.name: function for function in graph.library.function}
    left = {name for name in library if f"{name}{REWRITTEN_SUFFIX}" in library}
    if not left:
        # The original stays if the main graph or a remaining function calls it.
        return graph
    others = (node for name in library.keys() - left for node in library[name].node_def)
    left -= reachable_functions([*graph.node, *others], library)
    made = GraphDef(node=graph.node, versions=graph.versions)
    made.library.gradient.extend(graph.library.gradient)
    made.library.function.extend(function for name, function in library.items() if name not in left)
    return made


def _unused_frozen_arguments(inputs: GraphInputs, suspects: Mapping[str, NodeDef]) -> set[str]:
    """Return unused placeholders with the name that freezing gives."""
    named = {name for name, node in suspects.items() if node.op in INPUT_OPS and FROZEN_ARGUMENT_NAME.fullmatch(name)}
    return named - inputs.uses.keys()


def _traced_result_identities(inputs: GraphInputs, suspects: Mapping[str, NodeDef]) -> set[str]:
    """Return identities with a name from tracing that lead to function results only."""
    waiting = [input_node(text) for node in suspects.values() if node.op in RESULT_OPS for text in tensor_inputs(node)]
    left: set[str] = set()
    while waiting:
        name = waiting.pop()
        known = suspects.get(name)
        if known is None or inputs.uses[name] > 1 or name in left or not RESULT_IDENTITY_NAME.fullmatch(name):
            continue
        if known.op in TRACED_RESULT_OPS and len(tensor_inputs(known)) == 1:
            left.add(name)
            waiting.append(input_node(tensor_inputs(known)[0]))
    return left


def _traced_barriers(inputs: GraphInputs, suspects: Mapping[str, NodeDef]) -> set[str]:
    """Return the NoOps of tracing for which only results wait, and NoOps for which only these wait."""
    noops = {name for name, node in suspects.items() if node.op in GROUP_OPS and not tensor_inputs(node)}
    superfluous = {name for name in noops if BARRIER_NAME.fullmatch(name) and suspects[name].input}
    if not superfluous:
        return superfluous
    # An identity with uses other than results is not an end.
    use_counts = inputs.uses.copy()
    results = _count_input_strings(texts for node, texts in inputs.of_nodes if node.op in RESULT_OPS)
    result_uses = _sum_by_node(results, inputs.node_of)
    controls = {f"^{name}" for name in superfluous} & inputs.count.keys()
    superfluous = {text[1:] for text in controls}
    # Only identities that are results wait for a barrier.
    for node, texts in inputs.of_nodes:
        if not controls.isdisjoint(texts) and (
            node.op not in TRACED_RESULT_OPS or use_counts[node.name] > result_uses[node.name]
        ):
            superfluous.difference_update(text[1:] for text in controls.intersection(texts))
    unvisited = list(superfluous)
    # Backwards: a NoOp is superfluous if everything that waited for it is.
    while unvisited:
        for name in {input_node(text) for text in suspects[unvisited.pop()].input}:
            if name in noops and name not in superfluous:
                use_counts[name] -= 1
                if not use_counts[name]:
                    superfluous.add(name)
                    unvisited.append(name)
    return superfluous


def _traced_tuples(inputs: GraphInputs, suspects: Mapping[str, NodeDef]) -> tuple[dict[str, str], set[str]]:
    """Return the tensor of each element of a tuple, and the tuples without other users.

    The nodes of elements are in the order of the elements; a tuple may be unpacked several times.
    """
    elements_by_tuple: dict[str, list[str]] = {}
    for node, texts in inputs.of_nodes:
        if node.op == ELEMENT_OP and len(texts) == 1:
            elements_by_tuple.setdefault(texts[0], []).append(node.name)
    tensor_of: dict[str, str] = {}
    for text, names in elements_by_tuple.items():
        source = text
        while source in tensor_of:  # a tuple in a tuple
            source = tensor_of[source]
        source_node = suspects.get(source)
        tuple_inputs = tensor_inputs(source_node) if source_node is not None and source_node.op == TUPLE_OP else []
        if tuple_inputs and len(names) % len(tuple_inputs) == 0:
            tensor_of |= {name: tuple_inputs[position % len(tuple_inputs)] for position, name in enumerate(names)}
    tuples: set[str] = set()
    if tensor_of:
        users: dict[str, list[str]] = {name: [] for name, node in suspects.items() if node.op == TUPLE_OP}
        for node, texts in inputs.of_nodes:
            for text in texts:
                if text in users:
                    users[text].append(node.name)
        for name in reversed(users):  # of tuples in tuples the outer first
            if all(user in tensor_of or user in tuples for user in users[name]):
                tuples.add(name)
    return tensor_of, tuples


def _tensors_of_result_nodes(inputs: GraphInputs) -> dict[str, str]:
    """Return the tensor of each further node of an op with several results; nodes are in the order of results."""
    of_op: dict[tuple[str, ...], list[str]] = {}
    for node, texts in inputs.of_nodes:
        if node.op in RESULT_COUNTS:
            of_op.setdefault((node.op, *texts), []).append(node.name)
    return {
        name: f"{names[place - place % count]}:{place % count}"
        for (op, *_), names in of_op.items()
        if len(names) % (count := RESULT_COUNTS[op]) == 0
        for place, name in enumerate(names)
        if place % count
    }


def _resolve_forwarded(forwarded: Mapping[str, str]) -> dict[str, str]:
    """Return the original tensor behind each forwarding node; nodes on cycles are left out.

    >>> _resolve_forwarded({"a": "b", "b": "c:1", "x": "y", "y": "x"})
    {'b': 'c:1', 'a': 'c:1'}
    """
    source: dict[str, str] = {}
    cyclic: set[str] = set()
    for name in forwarded:
        path = {name: None}
        # To the end of the chain, a cycle, or an already resolved chain.
        while (last := input_node(forwarded[next(reversed(path))])) in forwarded:
            if last in path or last in source or last in cyclic:
                break
            path[last] = None
        has_end = last not in path and last not in cyclic
        tensor = source.get(last, forwarded[next(reversed(path))])
        for node in reversed(path):
            if has_end:
                source[node] = tensor
            else:
                cyclic.add(node)
    return source


def _rewired_inputs(node: NodeDef, left: set[str], forwarded: Mapping[str, str]) -> list[str]:
    """Return the inputs of a node without the nodes in `left`: replaced by a forwarded tensor, or dropped."""
    inputs: list[str] = []
    controls: dict[str, None] = {}
    for text in node.input:
        name = input_node(text)
        tensor = forwarded.get(name, "") if name in left else text
        if text.startswith("^"):
            controls |= {f"^{input_node(tensor)}": None} if tensor else {}
        elif tensor:
            inputs.append(tensor)
    return [*inputs, *controls]
