"""What is bounded for one series, one node or one radius is bounded for all of them together, too."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterator
from time import process_time

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.units import input_differences
from graphviz_tb.diff.columns.values import fingerprint
from graphviz_tb.diff.exporters import DiffInput
from graphviz_tb.diff.match import matching as bounds
from graphviz_tb.diff.match.matching import Aligned, Member, Reason, common_subsequence, node_pairs
from graphviz_tb.diff.match.neighbours import _match_around
from graphviz_tb.diff.match.scopes import _likely_pairs
from graphviz_tb.diff.run import _compare_inputs
from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_ALIGNMENT_CELLS
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.diff.test_causes import graph
from tests.diff.test_limits import found, matching
from tests.each import each
from tests.flat import flatten


def test_all_tables_of_common_subsequences_have_a_bound() -> None:
    m = matching(graph("x Relu"), graph("x Relu"))
    m.cells = MAX_ALIGNMENT_CELLS - 6
    assert m.longest_common("ab", "abc") == common_subsequence("ab", "abc")
    assert m.cells == MAX_ALIGNMENT_CELLS
    assert m.longest_common("a", "a") is None
    assert m.longest_common("", "a") == []


def adding(many: int, inputs: int, seed: int) -> GraphDef:
    """Sums of some of 26 ops, in any order."""
    made, some = graph(*(f"{word}z Op{word}" for word in "abcdefghijklmnopqrstuvwxyz")), random.Random(seed)
    for number in range(many):
        made.node.add(
            name=f"t{number}", op="AddN", input=[node.name for node in some.choices(made.node[:26], k=inputs)]
        )
    return made


def test_inputs_of_many_nodes_are_aligned_within_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty sums of a hundred inputs each, wired anew: a table of 10,000 cells for each."""
    old, new = (DiffInput(flatten(adding(20, 100 + seed, seed)), "") for seed in (0, 1))
    for most, noted in ((300_000, False), (50_000, True)):
        monkeypatch.setattr(bounds, "MAX_ALIGNMENT_CELLS", most)
        changes = _compare_inputs(old, new, DiffOptions())
        assert changes.source is not None
        assert 40_000 < changes.source.matching.cells <= most
        assert [notice.code for notice in changes.notices] == ["input-limit"] * noted
        assert changes.inverse().inverse() == changes


def once(run: Callable[[], object]) -> float:
    """The CPU seconds of one run."""
    start = process_time()
    run()
    return process_time() - start


def test_inputs_that_stayed_at_both_ends_make_no_table() -> None:
    names = [f"w{number}" for number in range(1000)]

    def made(inputs: list[str]) -> GraphDef:
        return GraphDef(
            node=[*({"name": name, "op": "Variable"} for name in names), {"name": "s", "op": "Pack", "input": inputs}]
        )

    m = matching(made(names[:500] + names[501:]), made(names))
    m.take(node_pairs([(number, number) for number in range(1001)], Reason.NAME))
    (wire,) = input_differences(m, 1000, 1000)
    assert (wire.slot, wire.before, wire.after) == (500, -1, 500)
    assert m.cells == 0


@pytest.mark.slow
def test_a_match_spreads_beside_many_that_nothing_tells_apart() -> None:
    """A chain of 190 ops, and ops without number beside another node: they are not counted again for each step."""

    def seconds(many: int) -> float:
        def made(word: str) -> GraphDef:
            chain = [f"{word}0 Relu x", *(f"{word}{at} Relu {word}{at - 1}" for at in range(1, 190))]
            return graph("x Placeholder", "h Hub", *chain, *(f"{word}h{at} Tanh h" for at in range(many)))

        graphs = made("a"), made("b")

        def run() -> None:
            m = matching(*graphs)
            m.take(node_pairs([(0, 0), (1, 1)], Reason.NAME))
            spent.append(once(lambda: matched.append(found(m, _match_around(m)))))

        spent, matched = list[float](), list[int]()
        for _ in range(3):
            run()
        assert matched == [192] * 3
        return min(spent)

    assert seconds(100_000) < 10 * seconds(10)


@each("seed", range(40))
def test_places_are_counted_on_as_if_counted_anew(seed: int) -> None:
    """A step of a spread that has begun finds what the first step of another one does."""
    some = random.Random(seed)
    many = some.randint(3, 25)
    inputs = [[some.randrange(at) for _ in range(some.randint(0, min(at, 3)))] for at in range(many)]
    ops = [some.choice("AB") for _ in range(many)]

    def made(word: str) -> GraphDef:
        return GraphDef(
            node=[
                {"name": f"{word}{at}", "op": op, "input": [f"{word}{other}" for other in inputs[at]]}
                for at, op in enumerate(ops)
            ]
        )

    whole, stepwise = (matching(made("p"), made("q")) for _ in range(2))
    for m in (whole, stepwise):
        m.take(node_pairs([(0, 0), (many // 2, many // 2)], Reason.NAME))
    for finding in _match_around(whole):
        whole.take(finding)
    while (finding := next(_match_around(stepwise), None)) is not None:
        stepwise.take(finding)
    assert whole.to_b.tolist() == stepwise.to_b.tolist()


def test_the_last_number_of_a_series_is_looked_for_once() -> None:
    """Thousands of short series of words of which one has very many numbers."""

    class Counting(dict[int, int]):
        def __iter__(self) -> Iterator[int]:
            asked.append(len(self))
            return super().__iter__()

    asked: list[int] = []
    m = matching(graph("x Relu"), graph("x Relu"))
    words, many = ("l_", ""), [Member(number, 0) for number in range(5000)]
    more = [*many, Member(5000, 0)]
    m.align(Aligned(True, words, many, more, [(at, at) for at in range(5000)], {}, {}))
    assert words in m.decided
    m.shifts[words] = Counting(m.shifts[words])
    for _ in range(1000):
        assert _likely_pairs(m, words, many[1:2], more[1:3]) == {0: 0}
    assert sum(asked) < 5000  # 1,000 times that, were it looked for each time
    for numbers in ([3, 4], [6000, 7000]):
        members = [Member(number, 0) for number in numbers]
        m.align(Aligned(True, words, members, more, [(0, 0), (1, 1)], {}, {}))
        assert m.tops[words] == max(m.shifts[words])


def long_sums(inputs: int) -> list[GraphDef]:
    """One node of a long name, all of whose inputs come from elsewhere in the second graph."""
    made = [graph("a A"), graph("a A", "b B")]
    for one, source in zip(made, "ab", strict=True):
        one.node.add(name="h" * 100_000, op="AddN", input=[source] * inputs)
    return made


def test_a_long_name_is_not_copied_for_each_of_its_inputs() -> None:
    tracemalloc.start()
    changes = diff(*long_sums(2_000))
    assert tracemalloc.get_traced_memory()[1] < 60e6  # not 2,000 × 100,000 letters
    tracemalloc.stop()
    with pytest.raises(RequestError, match="letters together"):
        changes.explain("json")
    assert changes.explain()
    assert len(diff(*long_sums(20)).explain("json")) < 5e6


def test_accounts_of_thousands_of_long_names_are_compared_by_hash() -> None:
    long = {"a": ["x" * 1000] * 2000, "b": 1}
    assert len(fingerprint(long)) < 100
    assert fingerprint(long) == fingerprint(dict(reversed(long.items())))
    assert fingerprint(long) != fingerprint({**long, "b": 2})
