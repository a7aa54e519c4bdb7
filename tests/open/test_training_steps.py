"""The first picture of a training step is the model; gradients, updates and what keeps books are one box each."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.proto import GraphDef

LAYERS = 4


def step(gradients: str = "gradient_tape", scoped: bool = True) -> GraphDef:
    """x ─▶ model/layer_0 … layer_3 ─▶ loss ─▶ gradients ⇄ AddN ─▶ Adam, beside it a metric that counts, and a saver."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "y", "op": "Placeholder"}])
    add, last = graph.node.add, "x"
    slash = "/" if scoped else "_"
    for at in range(LAYERS):
        prefix = f"model{slash}layer_{at}{slash}"
        add(name=prefix + "MatMul", op="MatMul", input=[last])
        add(name=prefix + "Act", op=("Relu", "Tanh", "Elu", "Selu")[at], input=[prefix + "MatMul"])
        last = prefix + "Act"
    add(name=f"loss{slash}Sub", op="Sub", input=[last, "y"])
    add(name=f"loss{slash}Mean", op="Mean", input=[f"loss{slash}Sub"])
    grad = f"{gradients}{slash}"
    add(name=f"{grad}loss_grad", op="TanhGrad", input=[f"loss{slash}Mean"])
    add(name=f"{grad}norm", op="L2Loss", input=[f"{grad}loss_grad"])
    add(name="AddN", op="AddN", input=[f"{grad}loss_grad"])
    add(name="ones", op="OnesLike", input=[last])
    add(name=f"{grad}more", op="Mul", input=["AddN", "ones"])
    for at in range(LAYERS):
        layer = f"model{slash}layer_{at}{slash}"
        add(name=f"{grad}{at}_grad", op="ReluGrad", input=[f"{grad}more", layer + "Act"])
        add(name=f"Adam{slash}scaled_{at}", op="Mul", input=[f"{grad}{at}_grad", "rate"])
        add(name=f"Adam{slash}update_{at}", op="AssignSubVariableOp", input=[f"Adam{slash}scaled_{at}"])
    add(name="steps", op="Range")
    add(name="rate", op="Cos", input=["steps"])
    add(name="Size", op="Size", input=[last])
    add(name="Sum", op="Sum", input=["Size"])
    add(name="count", op="AssignAddVariableOp", input=["Sum"])
    add(name=f"save{slash}SaveV2", op="SaveV2")
    add(name=f"save{slash}RestoreV2", op="RestoreV2")
    return graph


def shown(model: Model) -> dict[str, bool]:
    """Addresses of the boxes of the first picture, and whether they are open."""
    return {box.address: box.open for box in model.picture().scene.boxes}


def test_the_layers_are_shown_and_training_is_closed() -> None:
    boxes = shown(load(step()))
    assert boxes["model"]
    assert {f"model/layer_{at}" for at in range(LAYERS)} <= boxes.keys()
    assert [boxes[quiet] for quiet in ("gradients", "updates", "bookkeeping")] == [False] * 3
    assert not boxes.keys() & {"AddN", "ones", "count", "Sum", "rate"}


def test_each_part_holds_what_belongs_to_it() -> None:
    model = load(step())
    held = {name: inside(model, name) for name in ("gradients", "updates", "bookkeeping")}
    assert held["gradients"] == {"gradient_tape", "AddN", "ones"}
    assert held["updates"] == {"Adam", "rate", "steps"}  # what only updates use is part of them
    assert {"count", "Sum", "Size", "save"} <= held["bookkeeping"]


def test_readers_that_fill_a_queue_of_the_model_are_part_of_it() -> None:
    # files ─▶ decode ─▶ batch/enqueue, batch/queue ─▶ batch/dequeue ─▶ model
    graph = step()
    graph.node[0].name, graph.node[0].op = "batch/dequeue", "QueueDequeueV2"
    graph.node[0].input.append("batch/queue")
    for node in graph.node:
        node.input[:] = ["batch/dequeue" if name == "x" else name for name in node.input]
    add = graph.node.add
    add(name="batch/queue", op="FIFOQueueV2")
    add(name="files", op="ReaderReadV2")
    add(name="decode", op="DecodeRaw", input=["files"])
    add(name="batch/enqueue", op="QueueEnqueueV2", input=["batch/queue", "decode"])
    model = load(graph)
    (path,) = model.names.find_paths("bookkeeping")
    kept = {model.hierarchy.name[row] for row in model.hierarchy.children(path[-1])}
    assert not kept & {"files", "decode", "batch"}
    assert "count" in kept


def test_without_scopes_types_tell_gradients() -> None:
    boxes = shown(load(step(scoped=False)))
    assert boxes.keys() >= {"gradients", "updates", "bookkeeping"}
    assert not [name for name in boxes if "grad" in name and name != "gradients"]


def test_a_transposed_convolution_is_no_gradient() -> None:
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    for at in range(9):
        before = "x" if not at else f"up_{at - 1}"
        graph.node.add(name=f"up_{at}", op="Conv2DBackpropInput", input=[before])
    assert "gradients" not in shown(load(graph))


def test_the_body_of_a_loop_is_opened_and_its_condition_is_not() -> None:
    """A loop runs the step; its condition is larger than it looks."""
    graph = GraphDef(node=[{"name": "n", "op": "Placeholder"}])
    body, cond = graph.library.function.add(), graph.library.function.add()
    body.signature.name, cond.signature.name = "body", "cond"
    body.node_def.extend(step().node)
    for at in range(100):
        cond.node_def.add(name=f"c{at}", op="Less")
    loop = graph.node.add(name="loop", op="While", input=["n"])
    loop.attr["body"].func.name, loop.attr["cond"].func.name = "body", "cond"
    boxes = shown(load(graph))
    assert boxes["loop::body/model"]
    assert not boxes["loop::cond"]


def test_what_only_merges_summaries_stands_aside() -> None:
    """x ─▶ y ─▶ z, and Merge/Merge, which reads a summary of y alone."""
    nodes = [
        {"name": "x", "op": "Placeholder"},
        {"name": "y", "op": "Relu", "input": ["x"]},
        {"name": "z", "op": "Relu", "input": ["y"]},
        {"name": "told", "op": "ScalarSummary", "input": ["y"]},
        {"name": "Merge/Merge", "op": "MergeSummary", "input": ["told"]},
    ]
    boxes = load(GraphDef(node=nodes)).picture().scene.boxes
    assert {box.address for box in boxes if box.area == "main"} == {"x", "y", "z"}


def test_what_has_no_part_in_the_flow_stays_closed() -> None:
    """Nine ops behind each other; beside them 30 scopes in a scope, more than all of the flow."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    types = ("Sin", "Cos", "Tan", "Exp", "Log", "Abs", "Neg", "Sqrt")
    for at, op in enumerate(types):
        graph.node.add(name=f"step_{op}", op=op, input=[f"step_{types[at - 1]}" if at else "x"])
    for at in range(30):
        graph.node.add(name=f"table/entry_{at}/a", op="Range")
        graph.node.add(name=f"table/entry_{at}/b", op="Size", input=[f"table/entry_{at}/a"])
        graph.node.add(name=f"table/entry_{at}/c", op="Rank", input=[f"table/entry_{at}/b"])
    assert not shown(load(graph))["table"]


def test_a_loss_whose_value_only_an_average_needs_is_part_of_the_model() -> None:
    # loss ─▶ total ─▶ average (writes a variable); gradients/total_grad says of what gradients are taken
    graph = step(gradients="gradients")
    add = graph.node.add
    add(name="total", op="AddN", input=["loss/Mean", "loss/Sub"])
    add(name="average/Sub", op="Sub", input=["total"])
    add(name="average/Write", op="AssignSubVariableOp", input=["average/Sub"])
    before = load(graph)
    assert "total" in inside(before, "bookkeeping")
    add(name="gradients/total_grad/Identity", op="Identity", input=["gradients/loss_grad"])
    after = load(graph)
    assert "total" not in inside(after, "bookkeeping")
    assert "total" in shown(after)


def inside(model: Model, group: str) -> set[str]:
    """Names of the children of a group."""
    return {model.hierarchy.name[row] for row in model.hierarchy.children(model.names.find_paths(group)[0][-1])}


def test_custom_gradients_are_gradients() -> None:
    # layer_1 is a swish whose gradient is code of the program: it works out the sigmoid once more, after a gradient
    # came in, and squares beside it what it is given
    graph = step()
    add = graph.node.add
    x, grad = "model/layer_1/MatMul", "gradient_tape/2_grad"
    add(name="mul", op="Mul", input=[x, f"^{grad}"])
    add(name="again", op="Sigmoid", input=["mul"])
    add(name="beside", op="Square", input=[x])
    add(name="both", op="Mul", input=["again", "beside"])
    add(name="given", op="Mul", input=[grad, "both"])
    add(name="gradient_tape/last_grad", op="ReluGrad", input=["given", x])
    model = load(graph)
    assert inside(model, "gradients") >= {"mul", "again", "beside", "both", "given"}
    assert shown(model)["model"]


def test_what_waits_for_an_update_is_no_gradient() -> None:
    # a second step of training in one graph: its forward part begins after the first update
    graph = step()
    add = graph.node.add
    add(name="second/MatMul", op="MatMul", input=["x", "^Adam/update_0"])
    add(name="second/Act", op="Relu", input=["second/MatMul"])
    add(name="gradient_tape/second_grad", op="ReluGrad", input=["gradient_tape/0_grad", "second/Act"])
    assert "second" not in inside(load(graph), "gradients")


def test_a_net_that_only_receives_and_gives_weights_is_no_bookkeeping() -> None:
    """As the global net of A3C: gradients of the worker change it, assignments copy it, nobody reads what it says."""
    graph = step()
    for name in ("model/layer_0/kernel", "global/body/kernel"):
        graph.node.add(name=name, op="VariableV2").attr["dtype"].type = 1
        graph.node.add(name=f"{name}/read", op="Identity", input=[name])
    next(node for node in graph.node if node.name == "model/layer_0/MatMul").input.append("model/layer_0/kernel/read")
    graph.node.add(name="global/body/kernel/Assign", op="Assign", input=["global/body/kernel", "y"])
    graph.node.add(name="global/body/MatMul", op="MatMul", input=["x", "global/body/kernel/read"])
    graph.node.add(name="global/value", op="Relu", input=["global/body/MatMul"])
    graph.node.add(name="pull", op="Assign", input=["model/layer_0/kernel", "global/body/kernel/read"])
    model = load(graph)
    assert "global" in shown(model)
    assert "global/body/MatMul" not in inside(model, "bookkeeping")
