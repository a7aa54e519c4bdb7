"""Words that are taken from an equal member of a stack are those that would be found."""

from pathlib import Path

from graphviz_tb.api.pipeline import load
from graphviz_tb.words.paper import PaperWords

NETWORK = Path(__file__).parents[2] / "fixtures/shapes/ResNet50.pb.gz"


def test_rows_of_equal_members_have_the_words_that_would_be_found_for_them() -> None:
    hierarchy = load(NETWORK).hierarchy
    once, each = PaperWords(hierarchy), PaperWords(hierarchy)
    each._equal.first_equal = lambda row: row  # type: ignore[method-assign]
    rows = range(len(hierarchy))
    assert any(once._equal.first_equal(row) != row for row in rows)
    assert [once.words_of_row(row) for row in rows] == [each.words_of_row(row) for row in rows]
