"""The text format: every spelling, every printing option, the right place in every error."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.errors import MalformedProto, MalformedText
from graphviz_tb.formats.pbtxt import parse, parse_text_message
from graphviz_tb.proto import DataType, GraphDef, MetaGraphDef, RunMetadata
from tests.each import each
from tests.effort import examples, part

FIXTURES = Path(__file__).parents[2] / "fixtures"
TEXTS = sorted([*FIXTURES.glob("real/*.pbtxt"), *FIXTURES.glob("rules/*.pbtxt")])
BINARIES = sorted(FIXTURES.glob("real/*.pb"))


def same(one: Any, two: Any) -> bool:
    """Equal on the wire: there, a NaN equals itself."""
    return bool(one.SerializeToString(deterministic=True) == two.SerializeToString(deterministic=True))


@each("path", TEXTS, ids=lambda path: path.name)
def test_equals_text_format_on_every_text_fixture(path: Path) -> None:
    data = path.read_bytes()
    expected = text_format.Parse(data, GraphDef(), allow_unknown_field=True, allow_field_number=True)
    assert same(parse(data), expected)


@each("path", part(BINARIES, 3), ids=lambda path: path.name)
def test_printed_and_read_again_is_the_same_graph(path: Path) -> None:
    graph = GraphDef.FromString(path.read_bytes())
    assert same(parse(text_format.MessageToString(graph).encode()), graph)


# Messages of any shape, made from the descriptors.


def scalars(field: Any) -> st.SearchStrategy[Any]:
    if field.type == field.TYPE_ENUM:
        return st.sampled_from([value.number for value in field.enum_type.values])
    return {
        field.TYPE_STRING: st.text(max_size=8) | st.sampled_from(["a/b", 'q"', "\\", "\n", "é\u2028"]),
        field.TYPE_BYTES: st.binary(max_size=8),
        field.TYPE_BOOL: st.booleans(),
        field.TYPE_FLOAT: st.floats(width=32),
        field.TYPE_DOUBLE: st.floats(),
        field.TYPE_INT32: st.integers(-(2**31), 2**31 - 1),
        field.TYPE_INT64: st.integers(-(2**63), 2**63 - 1),
        field.TYPE_UINT32: st.integers(0, 2**32 - 1),
        field.TYPE_UINT64: st.integers(0, 2**64 - 1),
        field.TYPE_FIXED64: st.integers(0, 2**64 - 1),
    }[field.type]


@st.composite
def messages(draw: st.DrawFn, kind: Any, depth: int = 4) -> Any:
    """A message of this kind: some of its fields, some of them more than once."""
    made = kind()
    if not kind.DESCRIPTOR.fields:
        return made
    fields = draw(st.lists(st.sampled_from(list(kind.DESCRIPTOR.fields)), max_size=4))
    for field in fields:
        value = getattr(made, field.name)
        inner = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            key = draw(scalars(inner.fields_by_name["key"]))
            held = inner.fields_by_name["value"]
            if held.message_type is None:
                value[key] = draw(scalars(held))
            elif depth:
                value[key].CopyFrom(draw(messages(type(value[key]), depth - 1)))
        elif inner is not None and depth:
            target = value.add() if hasattr(value, "add") else value
            target.SetInParent()
            target.MergeFrom(draw(messages(type(target), depth - 1)))
        elif inner is None and hasattr(value, "append"):
            value.extend(draw(st.lists(scalars(field), max_size=3)))
        elif inner is None:
            setattr(made, field.name, draw(scalars(field)))
    return made


PRINTING = st.fixed_dictionaries(
    {},
    optional={
        "as_utf8": st.booleans(),
        "as_one_line": st.booleans(),
        "use_short_repeated_primitives": st.booleans(),
        "pointy_brackets": st.booleans(),
        "use_index_order": st.booleans(),
        "use_field_number": st.booleans(),
        "force_colon": st.booleans(),
        "double_format": st.sampled_from([".17g", ".3g", "e"]),
        "float_format": st.sampled_from([".9g", ".3g", "f"]),
        "indent": st.integers(0, 5),
    },
)


@pytest.mark.filterwarnings("ignore:.*float_format.*")
@pytest.mark.filterwarnings("ignore:.*double_format.*")
@examples(150)
@given(messages(GraphDef) | messages(MetaGraphDef) | messages(RunMetadata), PRINTING)
def test_equals_text_format_in_every_printing_option(message: Any, options: dict[str, Any]) -> None:
    known = inspect.signature(text_format.MessageToString).parameters  # they come and go with versions
    text = text_format.MessageToString(message, **{key: options[key] for key in options if key in known})
    expected = text_format.Parse(text, type(message)(), allow_field_number=True)
    read, notices = parse_text_message(text.encode(), type(message))
    assert same(read, expected)
    assert notices == ()


@examples(60)
@given(messages(GraphDef), st.sampled_from(["\r\n", "  \n", "\t\n", " # why\n", "\n\n"]))
def test_line_ends_blanks_and_comments_mean_nothing(message: Any, end: str) -> None:
    text = text_format.MessageToString(message)
    assert same(parse(text.replace("\n", end).encode()), message)


# Spellings that no program prints.


@each(
    "text",
    [
        "node { name: 'a' }",
        'node { name: "a" };',
        'node: < name: "a" >,',
        'node [{ name: "a" }]',
        'node: [ < name: "a" > ]',
        'node\n{\nname\n:\n"a"\n}',
        '# first\nnode { name: "\\141" } # last',
        'node { name: "" "a" \'\' }',
        'node {\n  name: ""\n  "a"\n}',
        "1 { 1: 'a' }",
        '\ufeffnode { name: "a" }',
        "node{name:'a'}",
        "node { name: 'a' input: [] }",
    ],
)
def test_one_node_in_many_spellings(text: str) -> None:
    assert same(parse(text.encode()), GraphDef(node=[{"name": "a"}]))


def attr(text: str) -> Any:
    graph = parse(f"node {{ attr {{ key: 'k' value {{ {text} }} }} }}".encode())
    return graph.node[0].attr["k"]


@each(
    ("text", "value"),
    [
        ("1", 1.0), ("-1", -1.0), ("1.5f", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("- 2", -2.0),
        ("inf", float("inf")), ("-Infinity", float("-inf")), ("1e99", float("inf")),
    ],
)  # fmt: skip
def test_numbers(text: str, value: float) -> None:
    assert attr(f"f: {text}").f == value


def test_integers_enums_and_booleans() -> None:
    assert attr("i: 0x1F").i == 31
    assert attr("i: -017").i == -15
    assert attr("i: -9223372036854775808").i == -(2**63)
    assert attr("type: DT_FLOAT").type == attr("type: 1").type == DataType.Value("DT_FLOAT")
    assert attr("b: true").b is attr("b: t").b is attr("b: 1").b is True
    assert attr("b: False").b is False
    assert attr("f: nan").f != attr("f: nan").f


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\a\b\f\n\r\t\v\\\'\"\?", b"\a\b\f\n\r\t\v\\'\"?"),
        (r"\0\12\377", b"\0\n\xff"),
        (r"\x4\x41\X41", b"\x04AA"),
        (r"\u00e9\U0001F600", "é😀".encode()),
        ('\\1" "2', b"\x012"),
    ],
)
def test_escapes(text: str, value: bytes) -> None:
    assert attr(f's: "{text}"').s == value


def test_what_is_unknown_is_skipped_and_told_with_its_place() -> None:
    # flavour: a field; [x.y]: an extension; DT_NEWER: a type that only a later TensorFlow knows
    text = b"""node {
  name: "a"
  flavour: "new"
  depth { of: [1, 2] < deeper: -inf > }
  [type.example.com/x.Y] { z: 1 }
}
node { name: "b" flavour: 'x' attr { key: "T" value { type: DT_NEWER } } }
"""
    text = text.replace(b"depth { of: [1, 2] < deeper: -inf > }", b"depth { of: [1, 2] deep < deeper: -inf > }")
    graph, notices = parse_text_message(text, GraphDef)
    assert [node.name for node in graph.node] == ["a", "b"]
    told = {(notice.message.split()[1], notice.where, notice.count) for notice in notices}
    assert ("NodeDef.flavour", "line 3, column 3", 2) in told
    assert ("NodeDef.depth", "line 4, column 3", 1) in told
    assert ("DataType", "line 7, column 61", 1) in told
    assert len(told) == 4


def test_unknown_types_in_attributes_are_counted() -> None:
    node = 'node {\n  name: "n"\n  attr {\n    key: "T"\n    value {\n      type: DT_NEW\n    }\n  }\n}\n'
    _, (notice,) = parse_text_message((node * 100).encode(), GraphDef)
    assert (notice.where, notice.count) == ("line 6, column 13", 100)


def test_unknown_fields_stay_on_the_fast_way() -> None:
    node = 'node {\n  name: "n"\n  novelty {\n    depth: 3\n  }\n}\n'
    graph, (notice,) = parse_text_message((node * 5000).encode(), GraphDef)
    assert len(graph.node) == 5000
    assert notice.count == 5000


@each(
    ("text", "line", "column", "word"),
    [
        ('node {\n  name "a"\n}', 2, 8, "':' or '{'"),
        ('node {\n  name: "a\n}', 2, 9, "does not end"),
        ('node {\n  name: "a"\n', 1, 1, "opened at line 1"),
        ("}", 1, 1, "closes nothing"),
        ("node { >", 1, 8, "expected '}'"),
        ('node {\n  name: "é" op: 7\n}', 2, 17, "quoted string"),
        ('node { name: "\\q" }', 1, 14, "escape"),
        ("version: 99999999999", 1, 10, "not within"),
        ("version: 1.5", 1, 10, "integer"),
        ("version { }", 1, 9, "not a message"),
        ("node: 3", 1, 7, "braces"),
        ("node { input: [1 2] }", 1, 16, "quoted string"),
        ("node { input: ['a' 'b' }", 1, 24, "']'"),
        ("versions { bad_consumers: [1 2] }", 1, 30, "']'"),
        ("node: \x00", 1, 7, "expected a value"),
    ],
)
def test_errors_say_where(text: str, line: int, column: int, word: str) -> None:
    with pytest.raises(MalformedText) as caught:
        parse(text.encode())
    place = (caught.value.line, caught.value.column)
    assert word in str(caught.value)
    assert place == (line, column) or word.startswith("opened")


def test_an_error_behind_a_million_bytes_of_good_text_has_its_line() -> None:
    good = 'node {\n  name: "n"\n  op: "NoOp"\n}\n' * 30_000
    with pytest.raises(MalformedText) as caught:
        parse((good + 'node {\n  name: "n"\n  op = "NoOp"\n}\n').encode())
    assert (caught.value.line, caught.value.column) == (4 * 30_000 + 3, 6)


def test_a_name_that_is_not_utf8_is_an_error() -> None:
    for text in (b'node { name: "\xff" }', b'node { name: "\\377" }', b'node {\n  name: "\xe9"\n}\n'):
        with pytest.raises(MalformedText, match="UTF-8"):
            parse(text)
    assert attr('s: "\\377"').s == b"\xff"


def test_depth_is_bounded_known_or_not() -> None:
    for opener in ("x {", "node { attr { value { func { attr { value { list { func {"):
        with pytest.raises((MalformedText, MalformedProto)):
            parse(f"{opener * 20_000}".encode())
    inside = "attr { key: 'k' value { func { " * 8
    assert parse(f"node {{ {inside} {'} } }' * 8} }}".encode()).node


def test_mixed_text_goes_in_and_out_of_the_fast_way() -> None:
    """Printed nodes, hand-written ones between them, in the graph and in its library."""
    node = GraphDef(node=[{"name": "n", "op": "Add", "input": ["a"]}])
    node.node[0].attr["T"].type = 1
    printed = text_format.MessageToString(node)
    by_hand = "node { name: 'h' # by hand\n}\n"
    made = GraphDef()
    body = made.library.function.add(ret={"r": "f"})
    body.node_def.add(name="f", op="Add")
    body.node_def.add(name="g").attr["T"].type = 1
    library = text_format.MessageToString(made)
    by_half = library.replace('"g"', "'g'")
    text = (printed * 3 + by_hand) * 40 + library + by_half + printed
    assert same(parse(text.encode()), text_format.Merge(text, GraphDef()))
