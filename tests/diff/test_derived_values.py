"""Values that follow from an edit elsewhere: first values, savers, loops; and what shapes and added vectors tell."""

from __future__ import annotations

from math import sqrt

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.settings import merge_by_number
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.proto import GraphDef

FLOAT, INT, HALF, RESOURCE = 1, 3, 19, 20


def add(graph: GraphDef, name: str, op: str, *inputs: str, shape: tuple[int, ...] = ()) -> None:
    """Add an op; a variable with its shape."""
    node = graph.node.add(name=name, op=op, input=list(inputs))
    if op in ("VariableV2", "VarHandleOp", "Placeholder"):
        node.attr["dtype"].type = FLOAT
    if shape:
        node.attr["shape"].shape.SetInParent()
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)


def add_constant(graph: GraphDef, name: str, *numbers: float, shape: tuple[int, ...] | None = None) -> None:
    """Add a constant: whole numbers, or floats."""
    whole = all(isinstance(number, int) for number in numbers)
    node = graph.node.add(name=name, op="Const")
    node.attr["dtype"].type = node.attr["value"].tensor.dtype = INT if whole else FLOAT
    tensor = node.attr["value"].tensor
    for size in shape if shape is not None else (len(numbers),) if len(numbers) > 1 else ():
        tensor.tensor_shape.dim.add(size=size)
    (tensor.int_val if whole else tensor.float_val).extend(numbers)  # type: ignore[arg-type]


def with_bias(biased: bool) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 8))
    add_constant(graph, "m/ctr/kernel", 0.0, shape=(8, 1))
    add(graph, "m/ctr/MatMul", "MatMul", "x", "m/ctr/kernel")
    if biased:
        add_constant(graph, "m/ctr/bias", 0.0, shape=(1,))
        add(graph, "m/ctr/Add", "AddV2", "m/ctr/MatMul", "m/ctr/bias")
    add(graph, "Identity", "Identity", "m/ctr/Add" if biased else "m/ctr/MatMul")
    return graph


def test_a_vector_that_is_added_no_more_is_a_bias() -> None:
    (change,) = diff(with_bias(True), with_bias(False))
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("use_bias", True, False)


def initialised(units: int) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 16))
    add(graph, "m/fc/kernel", "VariableV2", shape=(16, units))
    add_constant(graph, "m/fc/kernel/Initializer/limit", sqrt(6 / (16 + units)))
    add_constant(graph, "m/fc/kernel/Initializer/shape", 16, units)
    add(graph, "m/fc/kernel/Initializer/random", "RandomUniform", "m/fc/kernel/Initializer/shape")
    add(graph, "m/fc/kernel/Initializer/mul", "Mul", "m/fc/kernel/Initializer/random", "m/fc/kernel/Initializer/limit")
    add(graph, "m/fc/kernel/Assign", "Assign", "m/fc/kernel", "m/fc/kernel/Initializer/mul")
    add(graph, "m/fc/kernel/read", "Identity", "m/fc/kernel")
    add(graph, "m/fc/MatMul", "MatMul", "x", "m/fc/kernel/read")
    add(graph, "m/Relu", "Relu", "m/fc/MatMul")
    return graph


def test_the_limit_of_first_values_follows_from_the_shape_of_the_variable() -> None:
    (change,) = diff(initialised(10), initialised(32))
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("units", "10", "32")


def saved(*names: str) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 16))
    for leaf in ("prefix", "names", "slices"):
        add(graph, f"save/{leaf}", "Placeholder")
    add(graph, "save/RestoreV2", "RestoreV2", "save/prefix", "save/names", "save/slices")
    graph.node[-1].attr["dtypes"].list.type.extend([FLOAT] * len(names))
    before = "x"
    for number, name in enumerate(names):
        add(graph, f"{name}/w", "VariableV2", shape=(16, 16))
        add(graph, f"{name}/w/read", "Identity", f"{name}/w")
        add(graph, f"{name}/MatMul", "MatMul", before, f"{name}/w/read")
        add(graph, f"{name}/Relu", "Relu", f"{name}/MatMul")
        add(graph, f"save/Assign_{number}", "Assign", f"{name}/w", f"save/RestoreV2:{number}")
        before = f"{name}/Relu"
    return graph


def test_what_a_saver_restores_follows_from_the_variables() -> None:
    (change,) = diff(saved("a", "b"), saved("a", "b", "c"))
    assert (change.kind, change.name) == ("added", "c")
    assert "save/RestoreV2" in {each.name for each in change.consequences}


def projected(batch: int, units: int) -> GraphDef:
    """A product with a weight of unknown shape, brought to three dimensions."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(batch, 20, 32))
    add(graph, "m/up/resource", "VarHandleOp")
    add(graph, "m/up/Read", "ReadVariableOp", "m/up/resource")
    add_constant(graph, "m/up/Reshape/shape", batch * 20, 32)
    add(graph, "m/up/Reshape", "Reshape", "x", "m/up/Reshape/shape")
    add(graph, "m/up/MatMul", "MatMul", "m/up/Reshape", "m/up/Read")
    add_constant(graph, "m/up/shape", batch, 20, units)
    add(graph, "m/up", "Reshape", "m/up/MatMul", "m/up/shape")
    add(graph, "m/act/Relu", "Relu", "m/up")
    return graph


def test_the_shape_that_a_product_is_brought_to_tells_its_width() -> None:
    for batch in (8, 16):
        *others, change = diff(projected(8, 64), projected(batch, 96))
        assert (change.name, change.detail["key"]) == ("m/up", "units")
        assert (change.detail["old"], change.detail["new"]) == ("64", "96")
        assert [each.name for each in others] == ([] if batch == 8 else ["x"])


def looped(scope: str, size: int = 4, parts: int = 1, scale: float = 0.5) -> GraphDef:
    """A loop that is handed a list and what it keeps for each of some parts, and scales what an inner call gives."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 4))
    add(graph, "m/rnn/w", "VarHandleOp", shape=(4, size))
    add(graph, "m/rnn/w/Read", "ReadVariableOp", "m/rnn/w")
    add(graph, "m/rnn/MatMul", "MatMul", "x", "m/rnn/w/Read")
    given = ["m/rnn/MatMul", *(f"m/rnn/zeros_{number}" for number in range(parts))]
    for name in given[1:]:
        add(graph, name, "ZerosLike", "x")
    add(graph, f"{scope}/while", "While", *given)
    loop = graph.node[-1]
    loop.attr["T"].list.type.extend([FLOAT] * len(given))
    for key in ("cond", "body"):
        loop.attr[key].func.name = f"m_rnn_while_{key}"
        function = graph.library.function.add()
        function.signature.name = f"m_rnn_while_{key}"
        for number in range(len(given)):
            function.signature.input_arg.add(name=f"given_{number}", type=FLOAT)
            function.signature.output_arg.add(name=f"made_{number}", type=FLOAT)
            function.ret[f"made_{number}"] = f"given_{number}" if number else "item:item:0"
        shape = function.node_def.add(name="item/element_shape", op="Const")
        shape.attr["dtype"].type = shape.attr["value"].tensor.dtype = INT
        shape.attr["value"].tensor.tensor_shape.dim.add(size=2)
        shape.attr["value"].tensor.int_val.extend([-1, size])
        inputs = ["given_0", "given_0", "item/element_shape:output:0"]
        function.node_def.add(name="item", op="TensorListGetItem", input=inputs)
        number = function.node_def.add(name="item/y", op="Const")
        number.attr["dtype"].type = number.attr["value"].tensor.dtype = FLOAT
        number.attr["value"].tensor.float_val.append(scale)
        number.attr["value"].tensor.tensor_shape.SetInParent()
        scaled = function.node_def.add(name="item/mul", op="Mul", input=["item:item:0", "item/y:output:0"])
        scaled.attr["T"].type = FLOAT
        inner = function.node_def.add(name="item/inner", op="StatelessWhile", input=["item/mul:z:0"])
        inner.attr["output_shapes"].list.shape.add().dim.add(size=size)
    add(graph, "m/out/Relu", "Relu", f"{scope}/while")
    return graph


def test_the_sizes_of_what_a_loop_reads_follow_from_the_layer_that_made_it() -> None:
    (change,) = diff(looped("m/loop"), looped("m/loop", size=8))
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("units", "4", "8")


def test_another_number_in_a_loop_does_not_follow_from_sizes_beside_it() -> None:
    changes = list(diff(looped("m/rnn"), looped("m/rnn", size=8, scale=0.25)))
    inside = [pair for change in changes for inner in change.inside for pair in told_values(inner)]
    assert (0.5, 0.25) in inside


def test_the_types_that_a_loop_is_handed_follow_from_what_came() -> None:
    (change,) = diff(looped("m/rnn"), looped("m/rnn", parts=2))
    assert (change.kind, change.name) == ("added", "m/rnn/zeros_1")


def stepped(schedule: str, clip: str) -> GraphDef:
    """A step of gradient descent whose rate a schedule computes, and whose gradient is clipped."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 8))
    add(graph, "w", "VariableV2", shape=(8, 8))
    add(graph, "w/read", "Identity", "w")
    add(graph, "m/MatMul", "MatMul", "x", "w/read")
    add(graph, "loss/Mean", "Mean", "m/MatMul")
    add(graph, "gradients/m/MatMul_grad/MatMul", "MatMul", "x", "loss/Mean")
    add(graph, "step", "VariableV2")
    add(graph, f"{schedule}/truediv", "RealDiv", "step", "step")
    add_constant(graph, f"{schedule}/y", 0.5)
    add(graph, f"{schedule}/work", "Pow" if schedule == "ExponentialDecay" else "Cos", f"{schedule}/truediv")
    add(graph, f"{schedule}", "Mul", f"{schedule}/work", f"{schedule}/y")
    bound = "gradients/m/MatMul_grad/MatMul"
    for number, op in enumerate({"value": ["Minimum", "Maximum"], "norm": ["L2Loss", "Sqrt", "Maximum"]}[clip]):
        add(graph, f"clip_by_{clip}/{op}", op, bound, *(["w_bound"] if number else []))
        bound = graph.node[-1].name
    add(graph, "w_bound", "Placeholder")
    add(graph, "train/update_w", "ApplyGradientDescent", "w", schedule, bound)
    return graph


def test_another_schedule_and_another_clip_are_said_as_such() -> None:
    changes = diff(stepped("ExponentialDecay", "value"), stepped("CosineDecay", "norm"))
    details = [change.detail for change in changes if change.kind == "changed"]
    said = {detail["key"]: (detail["old"], detail["new"]) for detail in details}
    assert said == {
        "learning rate": ("ExponentialDecay", "CosineDecay"),
        "clipping of gradients": ("by value", "by norm"),
    }


def told_values(change: Change) -> list[tuple[object, object]]:
    """All old and new values that a change says, beside its own too."""
    return [(part.old, part.new) for part in (change.setting.as_parts if change.setting else ())]


def resized(op: str, size: int) -> GraphDef:
    """A pooling after a layer: its class, and its size."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 8, 8, 3))
    add(graph, f"m/{op}", op, "x")
    graph.node[-1].attr["ksize"].list.i.extend([1, size, size, 1])
    add(graph, "m/Relu", "Relu", f"m/{op}")
    return graph


def test_an_op_in_place_of_another_says_the_settings_that_both_have() -> None:
    for old, new in ((("MaxPool", 2), ("AvgPool", 3)), (("AvgPool", 3), ("MaxPool", 2))):
        (change,) = diff(resized(*old), resized(*new))
        assert (change.detail["old"], change.detail["new"]) == (old[0], new[0])
        (part,) = change.further_settings
        assert (part.key, part.old[1], part.new[1]) == ("ksize", old[1], new[1])


def biased_convolutions(filters: int, *bounds: float) -> GraphDef:
    """x ─▶ convolution ─▶ + bias ─▶ bounded …, as a traced step has them: of its weights no shape is known."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 8, 8, 3))
    source = "x"
    for layer, bound in zip(("m/one", "m/two"), bounds, strict=False):
        for name in ("kernel", "bias"):
            add(graph, f"{layer}/{name}", "Placeholder")
            graph.node[-1].attr["dtype"].type = RESOURCE
            add(graph, f"{layer}/{name}/read", "ReadVariableOp", f"{layer}/{name}")
        add(graph, f"{layer}/convolution", "Conv2D", source, f"{layer}/kernel/read")
        add_constant(graph, f"{layer}/Reshape/shape", 1, 1, 1, filters)
        add(graph, f"{layer}/Reshape", "Reshape", f"{layer}/bias/read", f"{layer}/Reshape/shape")
        add(graph, f"{layer}/add", "AddV2", f"{layer}/convolution", f"{layer}/Reshape")
        add_constant(graph, f"{layer}/bound", bound)
        add(graph, source := f"{layer}/Maximum", "Maximum", f"{layer}/add", f"{layer}/bound")
    add(graph, "m/Relu", "Relu", source)
    return graph


def test_the_shape_that_a_bias_is_brought_to_tells_the_filters() -> None:
    (change,) = diff(biased_convolutions(16, 1.0), biased_convolutions(24, 1.0))
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("filters", "16", "24")


def test_a_number_that_differs_at_one_of_several_places_is_told() -> None:
    old, new = biased_convolutions(16, 1.0, 1.0), biased_convolutions(24, 1.0, 3.0)
    for changes, ends in ((diff(old, new), (1.0, 3.0)), (diff(new, old), (3.0, 1.0))):
        assert ends in [ends for change in changes for ends in told_values(change)]


def test_groups_and_axes_that_follow_a_width_are_said_with_it() -> None:
    width = Change("changed", "attribute", "net/a", "net/a", 1, Setting("filters", "16", "24"))
    groups = Change("changed", "attribute", "net/b", "net/b", 1, Setting("groups", 16, 24))
    axes = Change("changed", "attribute", "top/c", "top/c", 1, Setting("normalized_shape", [16], [24]))
    alone = Change("changed", "attribute", "top/d", "top/d", 1, Setting("groups", 4, 2))
    first, second = merge_by_number([groups, width, axes, alone])
    assert [part.key for part in first.setting.as_parts] == ["filters", "groups", "normalized_shape"]
    assert second is alone


def with_table(rows: int, activation: str) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(1, 10, 8))
    add(graph, "m/places/table", "VarHandleOp", shape=(rows, 8))
    add(graph, "m/places/Read/ReadVariableOp", "ReadVariableOp", "m/places/table")
    add(graph, "m/places/Softmax", "Softmax", "m/places/Read/ReadVariableOp")
    add(graph, "m/act/act", activation, "x")
    add(graph, "m/out", "AddV2", "m/act/act", "m/places/Softmax")
    return graph


def test_a_longer_table_follows_from_no_other_edit() -> None:
    exchange, table = diff(with_table(50, "Relu"), with_table(100, "Tanh"))
    assert (exchange.key, exchange.name, exchange.consequences) == ("op", "m/act/act", ())
    assert (table.key, table.name, table.detail["new"]) == ("weight", "m/places", "100×8")


def with_parts(parts: tuple[int, int], activation: str) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(1, 16, 8))
    add(graph, "m/block/MatMul", "MatMul", "x")
    add(graph, "m/block/Reshape", "onnx::Reshape", "m/block/MatMul")
    graph.node[-1].attr["shape"].list.i.extend((1, *parts, 8))
    add(graph, "m/block/act", activation, "m/block/Reshape")
    add(graph, "m/out/Softmax", "Softmax", "m/block/act")
    return graph


def test_as_many_numbers_in_other_parts_follow_from_no_other_op() -> None:
    (change,) = diff(with_parts((4, 4), "Relu"), with_parts((8, 2), "Tanh"))
    (shape,) = change.further_settings
    assert (change.key, shape.key, shape.old, shape.new) == ("op", "shape", [1, 4, 4, 8], [1, 8, 2, 8])


def listed(kind: int) -> GraphDef:
    graph = GraphDef()
    add(graph, "x", "Placeholder")
    graph.node[-1].attr["dtype"].type = kind
    add(graph, "a/Relu", "Relu", "x")
    graph.node[-1].attr["T"].type = kind
    add(graph, "b/IdentityN", "IdentityN", "a/Relu", "x")
    graph.node[-1].attr["T"].list.type.extend([kind, kind])
    return graph


def test_another_type_in_a_list_is_the_type_of_numbers() -> None:
    (change,) = diff(listed(FLOAT), listed(HALF))
    assert (change.key, [inner.key for inner in change.consequences if inner.setting]) == ("dtype", [])


def trained_kernel(window: int, act: str = "Relu", inputs: int = 8) -> GraphDef:
    """x ─▶ a convolution of unknown shape ─▶ act ─▶ a loss; its gradient is brought to the shape of the kernel."""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 20, 8))
    add(graph, "m/conv/resource", "VarHandleOp")
    add(graph, "m/conv/Read", "ReadVariableOp", "m/conv/resource")
    for name, number in (("m/conv/dim", 1), ("m/conv/dim_1", 0), ("m/in/axis", 2), ("rate", 0.125)):
        add_constant(graph, name, number)
    twice = ("ConcatV2", "x", "x", "m/in/axis") if inputs > 8 else ("Identity", "x")
    add(graph, "m/in/Concat", *twice)
    add(graph, "m/conv/ExpandDims", "ExpandDims", "m/in/Concat", "m/conv/dim")
    add(graph, "m/conv/ExpandDims_1", "ExpandDims", "m/conv/Read", "m/conv/dim_1")
    add(graph, "m/conv/Conv2D", "Conv2D", "m/conv/ExpandDims", "m/conv/ExpandDims_1")
    add(graph, "m/act/act", act, "m/conv/Conv2D")
    add(graph, "loss/Mean", "Mean", "m/act/act")
    tape = "gradient_tape/m/conv"
    add(graph, f"{tape}/act", "ReluGrad", "loss/Mean", "m/act/act")
    add(graph, f"{tape}/Sizes", "Shape", "m/conv/ExpandDims_1")
    add(graph, f"{tape}/Filter", "Conv2DBackpropFilter", "m/conv/ExpandDims", f"{tape}/Sizes", f"{tape}/act")
    add_constant(graph, f"{tape}/Shape", window, inputs, 16)
    add(graph, f"{tape}/Reshape", "Reshape", f"{tape}/Filter", f"{tape}/Shape")
    add(graph, "sgd/mul", "Mul", f"{tape}/Reshape", "rate")
    add(graph, "sgd/update", "AssignSubVariableOp", "m/conv/resource", "sgd/mul")
    return graph


def test_the_window_of_a_kernel_follows_from_no_other_edit() -> None:
    for act, inputs in (("Elu", 8), ("Relu", 16)):
        (alone,) = diff(trained_kernel(3), trained_kernel(3, act, inputs))
        both = list(diff(trained_kernel(3), trained_kernel(5, act, inputs)))
        assert [(each.kind, each.name) for each in both] == [
            (alone.kind, alone.name),
            ("changed", "gradient_tape/m/conv/Reshape"),
        ]


def grouped(groups: int, pool: str = "MaxPool") -> GraphDef:
    """x ─▶ a convolution whose kernel takes a part of the channels ─▶ pool"""
    graph = GraphDef()
    add(graph, "x", "Placeholder", shape=(4, 20, 20, 8))
    add(graph, "m/pre/Relu", "Relu", "x")
    add_constant(graph, "m/conv/kernel", 0.0, shape=(3, 3, 8 // groups, 16))
    add(graph, "m/conv/Conv2D", "Conv2D", "m/pre/Relu", "m/conv/kernel")
    add(graph, "m/conv/pool", pool, "m/conv/Conv2D")
    if pool == "Tanh":
        add(graph, "m/conv/more", "Tanh", "m/conv/pool")
    return graph


def test_other_inputs_of_a_kernel_follow_from_no_edit_behind_it() -> None:
    (alone,) = diff(grouped(1), grouped(2))
    both = list(diff(grouped(1), grouped(2, "Tanh")))
    assert [change.name for change in both if change.detail == alone.detail] == [alone.name]
    assert len(both) == 2
