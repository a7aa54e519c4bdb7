"""A copy in a stack: whichever of its groups is opened, it is that of the usual member with other rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import TbGraphError
from graphviz_tb.expand.copies import MemberCopies
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import is_stack
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.walk import CopiedLevels, renumber_level
from graphviz_tb.words.line_labels import describe_contents, drawn_label
from tests.effort import everything, part

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted([*(FIXTURES / "real").glob("*.pb*"), *(FIXTURES / "rules").glob("*.pbtxt")])


def chain(count: int, inside: str, *more: str) -> bytes:
    """Blocks `b_0`, `b_1`, … in a row, each of two ops and `inside`, which may name its number and the one before."""
    nodes = ['node { name: "x" op: "Placeholder" }', 'node { name: "mask" op: "Placeholder" }', *more]
    for at in range(count):
        before = f"b_{at - 1}/out" if at else "x"
        nodes.append(f'node {{ name: "b_{at}/in" op: "MatMul" input: "{before}" input: "mask" }}')
        nodes.append(f'node {{ name: "b_{at}/inner/mul" op: "Mul" input: "b_{at}/in" input: "mask" }}')
        nodes.append(f'node {{ name: "b_{at}/inner/relu" op: "Relu" input: "b_{at}/inner/mul" }}')
        nodes.append(f'node {{ name: "b_{at}/out" op: "Add" input: "b_{at}/inner/relu" input: "{before}" }}')
        nodes.append(inside.format(at=at, before=before, far=max(0, at - 3)))
    nodes.append(f'node {{ name: "y" op: "Softmax" input: "b_{count - 1}/out" }}')
    return "\n".join(nodes).encode()


def copies(model: Model) -> dict[str, dict[str, str]]:
    """The copies of all stacks by name, each with its marks in place of others."""
    hierarchy, name = model.hierarchy, model.hierarchy.name
    stacks = [row for row in range(1, len(hierarchy)) if is_stack(hierarchy, row)]
    found = MemberCopies(model.members)
    return {
        name[copy.member]: {name[mark]: name[own] for mark, own in copy.marks.items()}
        for stack in stacks
        for copy in found.copies_in_stack(stack)
    }


def test_blocks_that_are_written_by_the_same_code_are_copies() -> None:
    assert copies(load(chain(6, ""))) == {f"b_{at}": {} for at in range(2, 6)}  # b_0 stands before the stack


def test_a_copy_has_its_own_weights_elsewhere() -> None:
    weights = [f'node {{ name: "weights/w_{at}" op: "Const" }}' for at in range(4)]
    reads = 'node {{ name: "b_{at}/more" op: "MatMul" input: "b_{at}/in" input: "weights/w_{at}" }}'
    found = copies(load(chain(4, reads, *weights)))
    assert found == {f"b_{at}": {"weights/w_1": f"weights/w_{at}"} for at in range(2, 4)}


SIZED = """node {{ name: "b_{at}/more" op: "Fill" input: "b_{at}/in" attr {{ key: "_output_shapes" value {{ list {{
  shape {{ dim {{ size: {size} }} }} }} }} }} }}
node {{ name: "b_{at}/end" op: "Neg" input: "b_{at}/more" }}"""


@pytest.mark.parametrize(
    "inside",
    [
        'node {{ name: "b_{at}/more" op: "AddN" input: "b_{at}/in" input: "b_{far}/out" }}',  # lines to other members
        SIZED.replace("{size}", "1{at}"),  # tensors of other sizes
    ],
)
def test_what_shows_anything_else_is_no_copy(inside: str) -> None:
    model = load(chain(8, inside))
    assert any(is_stack(model.hierarchy, row) for row in range(1, len(model.hierarchy)))
    assert len(copies(model)) < 5


def test_members_with_calls_are_no_copies() -> None:
    body = b"""library { function { signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "n" op: "Neg" input: "a" } ret { key: "r" value: "n:y:0" } } }"""
    call = """node {{ name: "b_{at}/more" op: "PartitionedCall" input: "b_{at}/in" attr {{ key: "f" value {{
      func {{ name: "f" }} }} }} }}"""
    assert copies(load(chain(6, call) + body)) == {}


def levels_of_copies(model: Model) -> Iterator[tuple[str, Metagraph, Metagraph]]:
    """For each group of a copy its name, the level of the usual member by the rows of the copy, and its own level."""
    hierarchy, levels = model.hierarchy, model.members
    for stack in range(1, len(hierarchy)):
        copied = CopiedLevels(levels)
        copied.copied_members((stack,))
        for copy in copied.copies.values():
            for path in copied.copied_groups(copy.member):
                own = (path[0] - copy.usual + copy.member,)
                named, _ = renumber_level(
                    (levels.metagraph(path), Skeleton(0, (), (), (), (), ())), copied.row_renumbering(copy)
                )
                yield hierarchy.name[own[0]], named, levels.metagraph(own)


def words(level: Metagraph) -> list[tuple[str, str]]:
    """What the lines of a level say."""
    return [(drawn_label(line), describe_contents(line)) for line in (*level.edges, *level.bridges)]


def test_the_levels_of_copies_are_those_of_the_usual_member() -> None:
    count = 0
    for source in [*part(FILES, 4), chain(6, "")]:
        try:
            model = load(source)
        except TbGraphError:
            continue
        for name, usual, own in levels_of_copies(model):
            assert (usual, words(usual)) == (own, words(own)), (source, name)
            count += 1
    assert count > (100 if everything() else 20)
