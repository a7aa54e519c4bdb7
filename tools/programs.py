"""Programs drawn by a seed: variables, tables, constants, summaries, calls and what PyTorch writes, put together as
TensorFlow does and then spoilt here and there: an input more or less, another op, an attribute that is missing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef

RESOURCE, FLOAT = 20, 1
DTYPES = (
    1,
    2,
    3,
    7,
    9,
    14,
    19,
    20,
    101,
    0,
    500,
)  # dtypes of weights, other dtypes, a reference, and invalid numbers
SPOILT = 0.08  # share of inputs, and of op types, that are wrong
SCOPES = ("", "", "a/", "a/b/", "model/dense_1/")
STEPS = 7  # parts of a program, at most
ANY = ("Relu", "AddV2", "Identity", "NoOp", "Const", "MatMul", "Assign", "ScalarSummary", "VarHandleOp", "Placeholder")
DATASETS = {
    "MapDataset": ("Targuments",),
    "ScanDataset": ("Targuments", "Tstate"),
    "GeneratorDataset": ("Tinit_func_args", "Tnext_func_args"),
}
Output = str


class Program:
    """The nodes of one body added so far; `inside` a function, inputs name the output too."""

    def __init__(self, luck: random.Random, inside: bool = False) -> None:
        self.luck, self.inside, self.around, self.scope, self.functions = luck, inside, "", "", [""]
        self.nodes: list[NodeDef] = []
        self.outputs: list[Output] = []
        self.handles: list[Output] = []

    def op(self, kind: str, *inputs: Output, name: str = "", **attrs: Any) -> Output:
        """Add an op and return the name of its first output. Some inputs and types are replaced by wrong ones."""
        luck = self.luck
        kind = luck.choice(ANY) if luck.random() < SPOILT / 2 else kind
        taken = [self.spoilt(text) if luck.random() < SPOILT else text for text in inputs]
        name = name or f"{self.scope}{kind.rpartition(':')[2].strip('_')}_{len(self.nodes)}"
        self.nodes.append(NodeDef(name=name, op=kind, input=filter(None, taken), attr=attrs))
        self.outputs.append(f"{name}:out:0" if self.inside else name)
        return self.outputs[-1]

    def spoilt(self, text: Output) -> Output:
        """Return a wrong input: none, any node, a control input, another output, or an unknown name."""
        name = text.partition(":")[0]
        return self.luck.choice(["", self.any(), f"^{name}", f"{name}:1", f"{name}:2", "gone", f"{name}:x:1"])

    def any(self) -> Output:
        """Choose an earlier output."""
        return self.luck.choice(self.outputs or ["x"])

    def handle(self) -> Output:
        """Choose an earlier handle, or any output."""
        return self.luck.choice(self.handles) if self.handles and self.luck.random() < 0.6 else self.any()

    def some(self, **attrs: Any) -> dict[str, Any]:
        """Choose attributes."""
        return {key: value for key, value in attrs.items() if self.luck.random() < 0.7}

    def dtype(self) -> dict[str, Any]:
        """Return an attribute with a dtype."""
        return {"type": FLOAT if self.luck.random() < 0.6 else self.luck.choice(DTYPES)}

    def shape(self) -> dict[str, Any]:
        """Return a shape of any rank, with unknown, single and zero sizes; or an unknown shape."""
        if self.luck.random() < 0.15:
            return {"unknown_rank": True}
        return {"dim": [{"size": self.luck.choice((-1, 0, 1, 2, 3, 8))} for _ in range(self.luck.randrange(4))]}

    def output_shapes(self) -> dict[str, Any]:
        """Return an attribute with the shapes of some outputs."""
        return {"list": {"shape": [self.shape() for _ in range(self.luck.randrange(4))]}}

    def constant(self, name: str = "") -> Output:
        """Add a constant."""
        attrs = self.some(
            value={"tensor": {"dtype": 1, "tensor_shape": self.shape()}},
            dtype=self.dtype(),
            _output_shapes=self.output_shapes(),
        )
        kind = self.luck.choice(("Const", "Const", "Const", "HostConst", "ImmutableConst"))
        return self.op(
            kind, *(["^" + self.any().partition(":")[0]] if self.luck.random() < 0.1 else []), name=name, **attrs
        )


def variable(program: Program) -> None:
    """Add a variable: its handle, reads, ops that pass the value on, uses, and writes."""
    luck = program.luck
    kinds = ("VarHandleOp", "VarHandleOp", "Placeholder", "_Arg", "VariableV2", "Variable", "_VarHandlesOp")
    kind = luck.choice((*kinds, "AutoReloadVariable"))
    words = ("kernel", "resource", "unknown", "args", "Const", "resource")
    attrs = program.some(
        dtype={"type": RESOURCE if kind in ("Placeholder", "_Arg") else FLOAT},
        shape={"shape": program.shape()},
        shared_name={"s": luck.choice((b"", b"v/kernel"))},
        _variable={"s": luck.choice((b"", b"net/bias"))},
        _handle_shapes={"list": {"shape": [program.shape() for _ in range(luck.randrange(3))]}},
        _handle_dtypes={"list": {"type": [luck.choice(DTYPES) for _ in range(luck.randrange(3))]}},
    )
    handle = program.op(kind, name=f"{program.scope}{luck.choice(words)}_{len(program.nodes)}", **attrs)
    program.handles.append(handle)
    for _ in range(luck.randrange(3)):
        reads = ("ReadVariableOp", "ReadVariableOp", "Identity", "_ReadVariablesOp", "ReadVariableXlaSplitND")
        value = program.op(
            luck.choice(reads), handle, **program.some(dtype=program.dtype(), _output_shapes=program.output_shapes())
        )
        use(program, value)
    if luck.random() < 0.4:
        shapes = program.some(_output_shapes=program.output_shapes())
        use(program, program.op(luck.choice(("ResourceGather", "ResourceGatherNd")), handle, program.any(), **shapes))
    if luck.random() < 0.5:
        writes = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ResourceApplyAdam", "Assign")
        more = ("VarIsInitializedOp", "SaveV2", "ScatterAdd", "ScatterNdUpdate", "VariableShape", "ApplySummary")
        program.op(luck.choice((*writes, *more)), handle, program.any())


def use(program: Program, value: Output) -> None:
    """Add an op that may pass a value on, and one that takes it in any of its slots."""
    luck = program.luck
    carriers = ("Identity", "Cast", "Snapshot", "Enter", "RefEnter", "RefIdentity", "GuaranteeConst", "StopGradient")
    more = ("PreventGradient", "Dequantize", "QuantizeDownAndShrinkRange", "Relu")
    for _ in range(luck.randrange(3)):
        value = program.op(
            luck.choice((*carriers, *more)), value, **program.some(DstT=program.dtype(), T=program.dtype())
        )
    users = (
        "MatMul",
        "Conv2D",
        "BiasAdd",
        "Einsum",
        "FusedBatchNormV3",
        "GatherV2",
        "_FusedConv2D",
        "Conv2DBackpropInput",
    )
    cells = ("LSTMBlockCell", "BlockLSTM", "GRUBlockCell", "BatchMatMulV2", "Mul", "Sub", "PartitionedCall")
    inputs = [program.any() for _ in range(luck.choice((1, 1, 2, 3, 6)))]
    inputs.insert(luck.randrange(len(inputs) + 1), value)
    program.op(luck.choice((*users, *cells)), *inputs)


def frozen(program: Program) -> None:
    """Add a constant in the place of a weight, named like a former variable or not."""
    name = f"{program.scope}{program.luck.choice(('w', 'Const_', 'ReadVariableOp_'))}{len(program.nodes)}"
    value = program.constant(name)
    reader = program.luck.choice((f"{name}/read", f"{name}/ReadVariableOp", f"{name}/ReadVariableOp_1", "", ""))
    use(program, program.op("Identity", value, name=reader) if program.luck.random() < 0.6 else value)


def normalised(program: Program) -> None:
    """Add a Normalization layer of Keras: (x - mean) / max(√variance, ε)."""
    first, second, least = (program.constant() for _ in range(3))
    if program.luck.random() < 0.4:
        first, second = (program.op("Identity", value) for value in (first, second))
    root = program.op("Maximum", program.op("Sqrt", second), least)
    program.op("RealDiv", program.op("Sub", program.any(), first), root)


def summarised(program: Program) -> None:
    """Add summaries of values, of unused weights, and of each other."""
    kinds = ("ScalarSummary", "TensorSummaryV2", "HistogramSummary", "My_Summary", "WriteSummary", "xSummaryV3")
    value = program.any()
    for _ in range(program.luck.randrange(1, 4)):
        value = program.op(program.luck.choice(kinds), program.constant(), value)
    program.op("MergeSummary", value, program.any())


def chained(program: Program) -> None:
    """Add long chains of marks and of ops that pass a value on."""
    value = program.constant()
    kind = program.luck.choice(("Identity", "ScalarSummary", "Const", "Cast"))
    for _ in range(program.luck.choice((5, 19, 20, 21, 38, 39, 40, 41))):
        value = program.op(kind, value)
    program.op("MatMul", program.any(), value)


def looked_up(program: Program) -> None:
    """Add a lookup table, and captured values of a traced function."""
    luck = program.luck
    tables = ("HashTableV2", "MutableDenseHashTableV2", "AnonymousHashTable", "MutableHashTable", "Placeholder", "_Arg")
    name = luck.choice(("", "unknown", "unknown_1", "a/unknown_2", "unknowns", "dense_sub_y"))
    table = program.op(luck.choice(tables), name=name)
    lookups = ("LookupTableFindV2", "InitializeTableV2", "LookupTableImportV2", "Relu")
    program.op(luck.choice(lookups), table, program.any())
    program.op("Sub", program.any(), table, name=luck.choice(("dense/Sub", "")))


def referred(program: Program) -> None:
    """Add ops that modify the variable of their first input."""
    kinds = ("Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ScatterUpdate", "count_up_to", "assign")
    more = ("assign_add", "assign_sub", "scatter_add", "scatter_sub", "scatter_update", "AssignAddVariableOp")
    program.op(
        program.luck.choice((*kinds, *more)), program.any(), program.any(), "^" + program.any().partition(":")[0]
    )


def worked(program: Program) -> None:
    """Add ordinary ops, some with one input twice."""
    for _ in range(program.luck.randrange(1, 4)):
        value = program.any()
        program.op(
            program.luck.choice(("Relu", "AddV2", "Tanh", "NoOp")), value, program.luck.choice((value, program.any()))
        )


def called(program: Program) -> None:
    """Add calls of functions by an attribute, by a list, by op type, and of functions that do not exist."""
    luck = program.luck
    names = [*program.functions, "gone"]
    attrs = {
        "PartitionedCall": ("f",),
        "StatefulPartitionedCall": ("f",),
        "While": ("cond", "body"),
        "StatelessIf": ("then_branch", "else_branch"),
        "MapDataset": ("f",),
        "ScanDataset": ("f",),
        "GeneratorDataset": ("init_func", "next_func"),
        "For": ("body",),
        "Plain": ("g",),
    }
    kind = luck.choice((*attrs, "Case", *names))
    functions: dict[str, Any] = {attr: {"func": {"name": luck.choice(names)}} for attr in attrs.get(kind, ())}
    if kind in DATASETS:
        functions |= program.some(**{attr: {"list": {"type": [FLOAT] * luck.randrange(4)}} for attr in DATASETS[kind]})
    if kind == "Case":
        functions = {"branches": {"list": {"func": [{"name": luck.choice(names)} for _ in range(2)]}}}
    value = program.op(kind or "Relu", *(program.handle() for _ in range(luck.randrange(1, 5))), **functions)
    if luck.random() < 0.5:
        use(program, program.op("ReadVariableOp", program.handle()))
    program.op("AddV2", value, value if program.inside else f"{value}:1")


def traced(program: Program) -> None:
    """Add nodes as PyTorch writes them: parameters, sizes, lists and sums of them."""
    luck = program.luck
    text = luck.choice((b"{ value : 3}", b"{ name : weight }", b"{value:9223372036854775807}", b"", b"odd"))
    made = [program.op(luck.choice(("prim::Constant", "prim::GetAttr")), attr={"s": text}) for _ in range(2)]
    made.append(program.op(luck.choice(("aten::size", "aten::dim", "aten::len", "prim::device")), program.any()))
    for _ in range(luck.randrange(5)):
        sums = ("aten::add", "aten::mul", "aten::floor_divide", "aten::Int", "prim::NumToTensor", "aten::sqrt")
        lists = ("prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct", "prim::ListUnpack")
        count = luck.choice((0, 1, 2, 3, 9, 10, 12))
        made.append(program.op(luck.choice((*sums, *lists)), *(luck.choice(made) for _ in range(count))))
    program.op("aten::_convolution", program.any(), *made[:3])
    program.op("IO Node", program.any(), name=f"output/{len(program.nodes)}")


PARTS: tuple[Callable[[Program], None], ...] = (
    variable, variable, variable, frozen, frozen, normalised, summarised, chained, looked_up, referred, worked, called,
    called,
)  # fmt: skip


def filled(program: Program) -> Program:
    """Add several parts, and sometimes a duplicate name, or a name that is also a scope."""
    luck = program.luck
    parts = (traced, traced, worked, frozen) if luck.random() < 0.1 else luck.sample(PARTS, 4)
    for _ in range(luck.randrange(2, STEPS)):
        program.scope = program.around + luck.choice(SCOPES)
        luck.choice(parts)(program)
    if luck.random() < 0.2:
        program.op("Relu", program.any(), name=luck.choice((luck.choice(program.nodes).name, "a", "model/dense_1")))
    return program


def function(luck: random.Random, name: str, functions: list[str]) -> FunctionDef:
    """Return a function whose arguments are values and handles."""
    made = FunctionDef()
    made.signature.name = name
    program = Program(luck, inside=True)
    program.functions = functions or [""]
    for number in range(luck.randrange(4)):
        argument = f"{luck.choice(('x', 'resource', 'kernel', 'unknown'))}_{number}"
        made.signature.input_arg.add(name=argument, type=luck.choice((FLOAT, RESOURCE, RESOURCE)))
        program.outputs.append(argument)
        program.handles.append(argument)
        if luck.random() < 0.5:
            attrs = made.arg_attr[number].attr
            attrs["_handle_shapes"].list.shape.add(**program.shape())
            attrs["_handle_dtypes"].list.type.append(luck.choice(DTYPES))
        if luck.random() < 0.6:
            use(program, program.op("ReadVariableOp", argument))
    filled(program)
    made.node_def.extend(program.nodes)
    for number in range(luck.randrange(3)):
        made.signature.output_arg.add(name=f"y{number}")
        if luck.random() < 0.9:
            made.ret[f"y{number}"] = program.any()
    return made


def program(name: str) -> GraphDef:
    """Return a program, equal for equal names; every other has functions, some merged as in TensorBoard."""
    luck = random.Random(name)
    made = GraphDef()
    names = [f"f{number}" for number in range(luck.randrange(4))] if luck.random() < 0.5 else []
    merged = luck.random() < 0.2
    for number, each in enumerate(names):
        before = luck.choice(("graph_1_", "graph_1_", "graph_2_", "")) if merged else ""
        made.library.function.append(function(luck, before + each, names[: number + 1]))
    body = Program(luck)
    body.functions = names or [""]
    body.around = "graph_1/" if merged else ""
    if luck.random() < 0.5:
        body.op("Placeholder", name="x")
    made.node.extend(filled(body).nodes)
    return made
