"""Find the place of each op of an ONNX model in its program: modules that an exporter wrote, or names with slashes.

PyTorch's newer exporter lists the modules around each node, with classes; its older exporter and other frameworks name
nodes after the scope, `/encoder/layers.0/self_attn/MatMul`. Calls have no number: a run of nodes of one module is one
call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from graphviz_tb.formats.exported import ModuleCall, module_path
from graphviz_tb.formats.onnx_messages import GraphValue, NodeValue, text_of
from graphviz_tb.ops.roles import Role, has_role

SCOPES_KEY, CLASSES_KEY, TRACE_KEY, CALL_KEY = (
    f"pkg.torch.onnx.{what}" for what in ("name_scopes", "class_hierarchy", "stack_trace", "fx_node")
)
SIGNATURE_KEY = "pkg.torch.export.ExportedProgram.graph_signature"
LISTED_PARAMETER = re.compile(r"^p_\w*: PARAMETER target='([^'\n]*)'$", re.MULTILINE)
NAMESPACE_KEY = "namespace"  # of releases before 2.6: `: models.Net/fc: torch.nn.Linear/linear: aten.linear.default`
# A text without a closing quote matches too: otherwise the search would go on inside it, in quadratic time.
LISTED_TEXT = re.compile(r"""'((?:[^'\\]|\\.)*+)'?|"((?:[^"\\]|\\.)*+)"?""", re.DOTALL)
WEIGHT_IN_CALL, NOT_IN_CALLS = re.compile(r"%([pbc])_(\w+)"), re.compile(r"\W")
ESCAPED = re.compile(r"\\(.)")
NAMESPACE_ENTRY = re.compile(r"(?:^|(?<=/))([^/:]*+): ([\w.]+)(?:/|$)")
MAX_LISTED_LETTERS = 20_000
# Names that an exporter generates for values without a name in the program.
GENERATED_NAME = re.compile(
    r"(?:onnx::\w+|_?val_\d+|\d+|_v_\d+|node_\w+|const\w*|expand(?:_\d+)?|scalar_tensor\w*|.*_output_\d+)?",
    re.IGNORECASE,
)
LITERAL_NAME = re.compile(r"(?:.*/)?Constant(?:_\d+)?_output_\d+")
MAX_CACHED_NAMES = 256  # a name is looked up a few times in a row
QUANTIZED_END = re.compile(r"(?:_quantized|_DequantizeLinear(?:_Output)?|_dequantized)$")
FOLDED_BIAS = re.compile(r"\.weight_bias$")  # of a norm folded into a convolution without a bias
WEIGHT_ATTRIBUTES = {"kernel": "weight", "embeddings": "weight", "scale": "weight", "slope": "weight", "offset": "bias"}
DIMENSIONAL = {"Conv": "Conv{}d", "ConvTranspose": "ConvTranspose{}d"}
PLAIN_CLASSES = {"Gemm": "Linear", "MatMul": "Linear"}


class NodePlace(NamedTuple):
    """The place of a node: the modules around it, outermost first, or the parts of its name, without modules; and its
    name there, if it has another name than its type."""

    modules: tuple[ModuleCall, ...] = ()
    parts: tuple[str, ...] = ()
    name: str = ""

    @property
    def path(self) -> str | None:
        """The path of the innermost module in the program; None if it is not known."""
        if self.modules:
            return self.modules[-1].path
        return module_path(self.parts) if self.parts else None


@lru_cache(maxsize=MAX_CACHED_NAMES)
def is_generated_name(name: str) -> bool:
    """Return whether an exporter generated a name, for a value without a name in the program.

    >>> is_generated_name("val_3"), is_generated_name("fc.weight")
    (True, False)
    """
    return GENERATED_NAME.fullmatch(name) is not None


@lru_cache(maxsize=MAX_CACHED_NAMES)
def is_literal_name(name: str) -> bool:
    """Return whether a tracer made a name, for a number in the program."""
    return LITERAL_NAME.fullmatch(name) is not None


def lists_modules(node: NodeValue) -> bool:
    """Return whether the exporter wrote the modules around a node."""
    return bool(_place_in_modules(node.metadata).modules)


def place_of_node(node: NodeValue) -> NodePlace:
    """Return where a node is.

    >>> place_of_node(NodeValue(name="/encoder/layers.0/MatMul", op_type="MatMul")).path
    'encoder.layers.0'
    """
    if (place := _place_in_modules(node.metadata)).modules:
        return place
    parts = tuple(filter(None, node.name.split("/")))
    if len(parts) > 1 or (parts and node.name.startswith("/")):
        return NodePlace((), parts[:-1], parts[-1])
    return NodePlace(name=node.op_type if is_generated_name(node.name) else node.name)


def stack_trace(node: NodeValue) -> str:
    """Return the lines of the program that made a node, as Python prints them; "" if the exporter wrote none."""
    return text_of(node.metadata.get(TRACE_KEY, ""))


def stored_kind(node: NodeValue, value: str) -> str:
    """Return whether a stored input of a node is a parameter ("p"), a buffer ("b") or a constant tensor ("c") of the
    program, according to the exporter's record of the call; "" if there is no such record.

    >>> call = {"pkg.torch.onnx.fx_node": "%add : call_function(args = (%x, %p_pos_embed))"}
    >>> stored_kind(NodeValue(metadata=call), "pos.embed"), stored_kind(NodeValue(), "pos")
    ('p', '')
    """
    kinds = _weights_of_call(node)
    return kinds.get(name_form_in_calls(value), "") if kinds else ""


def name_in_call(node: NodeValue, place: NodePlace, slot: str, stored: str) -> str:
    """Return the name of a weight by the recorded call of its user; "" if there is none. The exporter stores equal
    weights once, and transposed weights under a new name, but the call names the parameter.

    >>> call = {"pkg.torch.onnx.fx_node": "%linear : call_function(args = (%x, %p_mlp_0_weight, %p_mlp_0_bias))"}
    >>> place = NodePlace((ModuleCall("", "Net"), ModuleCall("mlp.0", "Linear")))
    >>> name_in_call(NodeValue(metadata=call), place, "kernel", "val_3")
    'mlp.0.weight'
    """
    if not place.path or stored.rpartition(".")[0] == place.path:
        return ""
    prefix, generated = f"{name_form_in_calls(place.path)}_", is_generated_name(stored)
    attribute = WEIGHT_ATTRIBUTES.get(slot, slot)
    wanted = f"{prefix}{name_form_in_calls(stored.rpartition('.')[2])}"
    for name in _weights_of_call(node):
        # A generated name says nothing about the parameter: its role decides.
        if name.startswith(prefix) and (name.endswith(attribute) if generated else name == wanted):
            return f"{place.path}.{name.removeprefix(prefix)}"
    return ""


def other_name_in_call(node: NodeValue, slot: str, names: Mapping[str, str]) -> str:
    """Return the name of a weight of another module by the recorded call of its user; `names` are the names of stored
    weights by their form in calls."""
    attribute = WEIGHT_ATTRIBUTES.get(slot, slot)
    return next((names[name] for name in _weights_of_call(node) if name.endswith(attribute) and name in names), "")


def names_in_calls(stored: Iterable[str]) -> dict[str, str]:
    """Return the names of stored weights by their form in calls: `fc_weight` for `fc.weight`."""
    return {name_form_in_calls(name): name for name in stored if not is_generated_name(name)}


def parameters_of_call(node: NodeValue) -> frozenset[str]:
    """Return the parameters in the recorded call of a node, by their form in calls."""
    return frozenset(name for name, kind in _weights_of_call(node).items() if kind == "p")


def parameters_of_program(graph: GraphValue) -> dict[str, str]:
    """Return the parameters of the program that a graph was made from, by the form of names in calls.

    >>> listed = {SIGNATURE_KEY: "# inputs\\np_fc_weight: PARAMETER target='fc.weight'\\nx: USER_INPUT\\n"}
    >>> parameters_of_program(GraphValue(metadata=listed))
    {'fc_weight': 'fc.weight'}
    """
    listed = LISTED_PARAMETER.findall(text_of(graph.metadata.get(SIGNATURE_KEY, "")))
    return {name_form_in_calls(name): name for name in listed}


@lru_cache(maxsize=64)  # looked up several times for each weight of a node
def _weights_of_call(node: NodeValue) -> dict[str, str]:
    """Return the kind ("p", "b" or "c") of each weight in the recorded call of a node, by name in lower case."""
    call = text_of(node.metadata.get(CALL_KEY, ""))
    found = WEIGHT_IN_CALL.findall(call.lower()) if len(call) < MAX_LISTED_LETTERS else []
    kinds: dict[str, str] = {}
    for kind, name in found:
        kinds.setdefault(name, kind)
    return kinds


def name_form_in_calls(name: str) -> str:
    plain = name.replace(".", "_")
    return (plain if plain.isascii() and plain.isidentifier() else NOT_IN_CALLS.sub("_", name)).lower()


def has_call_record(node: NodeValue) -> bool:
    """Return whether the exporter recorded the call of a node."""
    return CALL_KEY in node.metadata


def _place_in_modules(metadata: Mapping[str, str]) -> NodePlace:
    if not metadata:
        return NodePlace()
    # Without the last entry, the op itself, the lists of all ops of a module are equal.
    paths = _without_last_name(text_of(metadata.get(SCOPES_KEY, "")))
    classes = _classes_of_modules(text_of(metadata.get(CLASSES_KEY, "")))
    return _place_in_listed_modules(paths, classes, "" if paths else text_of(metadata.get(NAMESPACE_KEY, "")))


def _without_last_name(listed: str) -> str:
    """Return a list of texts with an empty last text.

    >>> _without_last_name("['', 'enc.0', 'linear']")
    "['', 'enc.0', '']"
    """
    before, comma, last = listed.rpartition(", '")
    return f"{before}, '']" if comma and last.endswith("']") and last.find("'") == len(last) - 2 else listed


_classes_of_modules = lru_cache(maxsize=1024)(_without_last_name)  # modules of one kind list the same classes


@lru_cache(maxsize=1024)  # consecutive nodes are of one module
def _place_in_listed_modules(path_list: str, class_list: str, namespace: str) -> NodePlace:
    """Return the place in the modules that texts list: all but the last entry, which is the op."""
    paths, classes = _listed_texts(path_list), _listed_texts(class_list)
    if namespace and len(namespace) < MAX_LISTED_LETTERS:
        found = NAMESPACE_ENTRY.findall(namespace)
        paths, classes = [path for path, _ in found], [kind for _, kind in found]
    if len(paths) != len(classes):
        return NodePlace()
    calls: list[ModuleCall] = []
    for path, kind in zip(paths[:-1], classes[:-1], strict=True):
        name = kind.rpartition(".")[2]
        if name and (not calls or calls[-1].path != path):
            calls.append(ModuleCall(path, name))
    return NodePlace(tuple(calls))


@lru_cache(maxsize=1024)  # modules of one kind list the same classes
def _listed_texts(text: str) -> list[str]:
    """Return the texts of a list as Python prints it.

    >>> _listed_texts("['', 'enc.0', \\"it's\\"]")
    ['', 'enc.0', "it's"]
    """
    if len(text) > MAX_LISTED_LETTERS:
        return []
    texts = (single or double for single, double in LISTED_TEXT.findall(text))
    return [ESCAPED.sub(r"\1", each) if "\\" in each else each for each in texts]


def with_module_of_kernel(place: NodePlace, op: str, kernel: str, rank: int) -> NodePlace:
    """Return the place of a convolution or a product by the name of its kernel: if a batch norm was folded into it, the
    exporter records the module of the norm.

    >>> net, norm = ModuleCall("", "Net"), ModuleCall("bn1", "BatchNorm2d")
    >>> with_module_of_kernel(NodePlace((net, norm)), "Conv", "conv1.weight", 4).modules[-1]
    ModuleCall(path='conv1', class_name='Conv2d', key=None)
    """
    path = kernel.rpartition(".")[0]
    if not path or len(place.modules) < 2 or not has_role(f"onnx::{op}", Role.CONVOLUTION, Role.PRODUCT):
        return place
    around, inner = place.modules[-2].path, place.modules[-1]
    own = path.removeprefix(f"{around}.") if around else path
    if path == inner.path or path.startswith(f"{inner.path}.") or "." in own or (around and own == path):
        return place
    if "Norm" not in inner.class_name:  # any other module with the weight of a neighbour shares it
        return place
    kind = DIMENSIONAL[op].format(rank - 2) if op in DIMENSIONAL else PLAIN_CLASSES.get(op, op)
    return NodePlace((*place.modules[:-1], ModuleCall(path, kind)), name=place.name)


def name_of_weight(stored: str, node: NodeValue, slot: str) -> str:
    """Return the name of a weight in the program; a weight with a generated name is named after the module of the node
    that uses it.

    >>> node = NodeValue("/mlp/mlp.0/MatMul")
    >>> name_of_weight("conv1.weight_quantized", node, "kernel"), name_of_weight("onnx::MatMul_12", node, "kernel")
    ('conv1.weight', 'mlp.0.weight')
    """
    name = FOLDED_BIAS.sub(".bias", QUANTIZED_END.sub("", stored))
    path = place_of_node(node).path if is_generated_name(name) else None
    return f"{path}.{WEIGHT_ATTRIBUTES.get(slot, slot or 'weight')}" if path else name
