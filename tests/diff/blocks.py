"""Twelve numbered blocks in a row, with variables, gradients and optimizer slots that bear their numbers."""

from __future__ import annotations

from typing import Any

from graphviz_tb.proto import GraphDef

SAME, ODD = ("MatMul", "BiasAdd", "Relu"), ("MatMul", "BiasAdd", "Tanh", "Dropout")


def stack(*blocks: tuple[str, ...], prefix: str = "encoder/layer_", training: bool = False) -> Any:
    """Blocks of ops, each fed by the one before it.

    # input ─▶ layer_0/… ─▶ layer_1/… ─▶ … ─▶ head
    """
    made = GraphDef()
    made.node.add(name="input", op="Placeholder", attr={"dtype": {"type": 1}})
    before = "input"
    for number, ops in enumerate(blocks):
        scope = f"{prefix}{number}"
        made.node.add(name=f"{scope}/kernel", op="VarHandleOp")
        for op in ops:
            inputs = [before, f"{scope}/kernel"] if op == "MatMul" else [before]
            before = made.node.add(name=f"{scope}/{op}", op=op, input=inputs).name
    made.node.add(name="head", op="Softmax", input=[before])
    if training:
        add_training(made, [f"{prefix}{number}" for number in range(len(blocks))], blocks)
    return made


def add_training(made: Any, scopes: list[str], blocks: tuple[tuple[str, ...], ...]) -> None:
    """Gradients, slots and updates of every block, and one group of all updates."""
    flow, updates = "head", []
    for scope, ops in reversed(list(zip(scopes, blocks, strict=True))):
        for op in reversed(ops):
            flow = made.node.add(
                name=f"gradients/{scope}/{op}_grad/{op}Grad", op=f"{op}Grad", input=[flow, f"{scope}/{op}"]
            ).name
        made.node.add(name=f"Adam/{scope}/kernel/m", op="VarHandleOp")
        update = f"Adam/update_{scope}/kernel/Apply"
        made.node.add(name=update, op="ApplyAdam", input=[f"{scope}/kernel", f"Adam/{scope}/kernel/m", flow])
        updates.append(f"^{update}")
    made.node.add(name="train", op="NoOp", input=sorted(updates))
