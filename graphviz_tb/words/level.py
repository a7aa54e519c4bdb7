"""Write the texts of the boxes and lines of one open group, and the line below the title of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphviz_tb.graphs.calls import OpCounter, lower_bound_sign
from graphviz_tb.model.costs import BOUND_SIGNS, Cost
from graphviz_tb.model.formatting import format_count, plural_noun
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import (
    SMALL_FONT_PX,
    WORDS_DOT,
    elide_text,
    group_thousands,
    replace_unsafe_characters,
    text_width,
)
from graphviz_tb.model.metagraph import Annotation, Bridge, Metaedge, MetagraphLine, Side, StubKind
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.skeleton import SOURCE_TRAINS, TARGET_TRAINS
from graphviz_tb.model.view import MIXED_TRAINING, LevelNote, LevelWords, LineWords, NodeLabel, StubWords, View
from graphviz_tb.words.line_labels import (
    TOOLTIP_NAMES,
    count_of,
    describe_line,
    drawn_label,
    tensor_count,
    tooltip_name,
)

# Texts of the stubs next to a box: constants, weights, summaries, extracted neighbours, the "+N" rest.

STUB_LABEL_PX = 100  # a box with a label on either side is then narrower than the widest box
MIN_STUB_NAME_PX = 24  # for the name of a weight, before its shape
STUB_KIND_WORDS: dict[StubKind, str] = {
    "shortcut": "linked",
    "constant": "constant",
    "summary": "summary",
    "weight": "weight",
}


def _stubs_at_side(
    annotations: Sequence[tuple[int, Annotation]],
    side: Side,
    names: Mapping[int, str],
    labels: Mapping[int, str],
    limit: int,
) -> tuple[StubWords, ...]:
    """Return the stubs at one side of a box: at most `limit`, then a stub that counts the rest and names them in its
    tooltip.

    Each is labelled with the last segment of its name, or its entry in `labels`.

    >>> stubs = [(row, Annotation(0, "in", row, "constant")) for row in range(4)]
    >>> [
    ...     _stub_words.label
    ...     for _stub_words in _stubs_at_side(stubs, "in", {row: f"a/c{row}" for row in range(4)}, {}, 2)
    ... ]
    ['c0', 'c1', '+2']
    """
    at_side = [(index, annotation) for index, annotation in annotations if annotation.side == side]
    stubs = [_stub_words(index, annotation, names, labels) for index, annotation in at_side[:limit]]
    hidden = at_side[limit:]
    if hidden:
        listed = ", ".join(tooltip_name(names.get(annotation.other, "")) for _, annotation in hidden[:TOOLTIP_NAMES])
        title = f"{len(hidden)} more: {listed}"
        stubs.append(StubWords("more", f"+{len(hidden)}", title, -1, False, tuple(index for index, _ in hidden)))
    return tuple(stubs)


def _stub_words(index: int, annotation: Annotation, names: Mapping[int, str], labels: Mapping[int, str]) -> StubWords:
    """Return the texts of one annotation."""
    full = replace_unsafe_characters(names.get(annotation.other, ""))
    label, uses = _neighbour_name(annotation.other, names, labels), ""
    parts = label.split(" (")  # e.g. "kernel 3×3×1×8 (2 uses)"
    if annotation.kind == "weight" and len(parts) > 1 and text_width(label, SMALL_FONT_PX) > STUB_LABEL_PX:
        # The shape is more important than the number of uses.
        label, uses = " (".join(parts[:-1]), ", " + parts[-1].replace(")", "")
    count = f", {annotation.edges} edges" if annotation.edges > 1 else ""
    control = ", control" if annotation.control else ""
    title = f"{tooltip_name(full)} ({STUB_KIND_WORDS[annotation.kind]}{count}{control}{uses})"
    return StubWords(
        annotation.kind,
        _fitted_stub_label(label, annotation.kind),
        title,
        annotation.other,
        annotation.control,
        (index,),
    )


def _fitted_stub_label(label: str, kind: StubKind) -> str:
    """Shorten a label to fit; for a weight shorten the name, not the shape.

    >>> _fitted_stub_label("position_embeddings 1×197×384", "weight"), _fitted_stub_label("bias 64", "weight")
    ('positio…s 1×197×384', 'bias 64')
    """
    parts = label.split(" ")
    shape = " " + parts[-1]
    room = STUB_LABEL_PX - text_width(shape, SMALL_FONT_PX)
    if kind != "weight" or len(parts) != 2 or room < MIN_STUB_NAME_PX:
        return elide_text(label, STUB_LABEL_PX, SMALL_FONT_PX)
    return elide_text(parts[0], room, SMALL_FONT_PX) + shape


def _neighbour_name(row: int, names: Mapping[int, str], labels: Mapping[int, str]) -> str:
    """Return the label of a neighbour, or the last segment of its name if it has no label."""
    full = replace_unsafe_characters(names.get(row, ""))
    return replace_unsafe_characters(labels.get(row, "")) or last_segment(full) or full


# Stubs that many boxes of a level share are written once, in a note.

MIN_NOTE_BOXES = 5  # boxes that share a stub
# Fewer are enough if the neighbour is in the auxiliary area, whose stubs name the boxes, or if they are half of the
# level.
MIN_LISTED_BOXES = 3
NOTE_NAME_PX = 160  # a note is a separate line, with more room than a stub


def _shared_notes(view: View) -> tuple[LevelNote, ...]:
    """Return notes on neighbours that at least `MIN_NOTE_BOXES` boxes share, or `MIN_LISTED_BOXES` if they are half of
    a level's main area
    or the neighbour is in the auxiliary area. Open children show no stubs and do not count."""
    core = [position for position in view.metagraph.core_children() if position not in view.opened]
    shared: dict[tuple[Side, int], list[int]] = {}  # by side and neighbour: indices of annotations
    inside = set(core)
    for index, stub in enumerate(view.metagraph.annotations):
        if stub.kind == "shortcut" and stub.child in inside and not stub.training:
            shared.setdefault((stub.side, stub.other), []).append(index)
    away = {view.metagraph.children[position] for position in view.metagraph.mask.extracted_children}
    return tuple(
        _build_note(view, side, other, indices, len(core))
        for (side, other), indices in shared.items()
        if len(indices) >= (MIN_LISTED_BOXES if other in away or 2 * len(indices) >= len(core) else MIN_NOTE_BOXES)
    )


def _build_note(view: View, side: Side, other: int, indices: list[int], count: int) -> LevelNote:
    readers = "all boxes" if len(indices) == count else f"{len(indices)} boxes"
    arrow = "→" if side == "out" else "←"
    name = elide_text(_neighbour_name(other, view.names, view.labels), NOTE_NAME_PX, SMALL_FONT_PX)
    boxes = [view.node_labels[view.metagraph.annotations[index].child].label for index in indices]
    full = replace_unsafe_characters(view.names.get(other, ""))
    account = (
        f"{tooltip_name(full)} {'←' if side == 'out' else '→'} {', '.join(map(tooltip_name, boxes[:TOOLTIP_NAMES]))}"
    )
    return LevelNote(f"{readers} {arrow} {name}", account, tuple(indices))


NO_NAME = "…"


# Lines between the model and a box that trains it run together, with one label for the number of tensors.


def _training_labels(view: View) -> dict[int, str]:
    """Return the labels of lines between the model and a box that trains it, if there are several: the total number of
    tensors of the largest bundle, at the line that joins last. If the training is not set apart, no such line has a
    label."""
    if view.narrow >= MIXED_TRAINING:
        return {wire: "" for wire, line in view.drawn_lines().items() if line.training}
    wires_by_box: dict[int, list[int]] = {}
    for wire, line in view.drawn_lines().items():
        chain = view.skeleton.wires[wire].chain
        if view.skeleton.wires[wire].edge >= 0 and line.training in (SOURCE_TRAINS, TARGET_TRAINS):
            wires_by_box.setdefault(chain[0] if line.training == SOURCE_TRAINS else chain[-1], []).append(wire)
    labels: dict[int, str] = {}
    for box, wires in wires_by_box.items():
        if len(wires) < 2:
            continue
        wires_at: dict[int, list[int]] = {}
        tensors_at: dict[int, int] = {}
        for wire in wires:
            labels[wire] = ""
            chain = view.skeleton.wires[wire].chain
            nearest = chain[1] if chain[0] == box else chain[-2]
            wires_at.setdefault(nearest, []).append(wire)
            tensors_at[nearest] = tensors_at.get(nearest, 0) + tensor_count(view.line_of_wire(wire))
        main = max(wires_at, key=lambda nearest: (len(wires_at[nearest]) > 1, tensors_at[nearest]))
        last_wire = min(wires_at[main], key=lambda wire: len(view.skeleton.wires[wire].chain))
        labels[last_wire] = f"{group_thousands(tensors_at[main])} tensors" if tensors_at[main] > 1 else ""
    return labels


SHARED_RESULT = "the same for all"


def _shared_labels(view: View) -> dict[int, str]:
    """Return the labels of lines from the box of a surplus whose result all members of the stack use."""
    return {
        wire: SHARED_RESULT
        for wire, line in view.drawn_lines().items()
        if isinstance(line, Metaedge) and view.node_labels[line.source].shared
    }


def _written_accounts(view: View) -> dict[int, str]:
    """Return, for each box that writes weights, a text with their number and the boxes that own them."""
    edges_by_writer: dict[int, list[Metaedge]] = {}
    for edge in view.metagraph.edges:
        if edge.writes:
            edges_by_writer.setdefault(edge.target, []).append(edge)
    accounts: dict[int, str] = {}
    for writer, edges in edges_by_writer.items():
        count = count_of(sum([edge.reference for edge in edges]), "weight")
        owners = ", ".join([tooltip_name(view.node_labels[edge.source].full) for edge in edges[:TOOLTIP_NAMES]])
        accounts[writer] = f" · writes {count} of {owners}"
    return accounts


def level_words(view: View, limit: int, printed: bool = False) -> LevelWords:
    """Return the texts of a view. `limit` is the number of stubs that a side of a box shows before the rest is counted;
    `printed`: the view is a figure for print."""
    node_labels = (*view.node_labels, *view.functions)
    notes = _shared_notes(view)
    stubs_by_child = _stubs_by_child(view, {index for note in notes for index in note.annotations})
    if printed:
        stubs_by_child = [_printed_stubs(*each, limit) for each in zip(stubs_by_child, node_labels, strict=True)]
    links, written = [[] for _ in node_labels] if printed else _links_of_open(view), _written_accounts(view)
    labels = _training_labels(view) | _shared_labels(view)
    return LevelWords(
        seconds=tuple(_box_second_line(node, len(links[position])) for position, node in enumerate(node_labels)),
        titles=tuple(
            _box_tooltip(node, links[position]) + written.get(position, "") for position, node in enumerate(node_labels)
        ),
        incoming=tuple(_stubs_at_side(stubs, "in", view.names, view.labels, limit) for stubs in stubs_by_child),
        outgoing=tuple(_stubs_at_side(stubs, "out", view.names, view.labels, limit) for stubs in stubs_by_child),
        notes=notes,
        lines={
            wire: LineWords(labels.get(wire, drawn_label(line)), describe_line(line, *_line_end_names(view, line)))
            for wire, line in view.drawn_lines().items()
        },
        loops={
            position: f"{tooltip_name(node_labels[position].full)} → itself" for position, _ in view.metagraph.loops
        },
        ports=tuple(
            ", ".join(tooltip_name(view.names.get(row, NO_NAME)) for row, _ in port.others[:TOOLTIP_NAMES])
            for port in view.skeleton.ports
        ),
    )


def _stubs_by_child(view: View, in_notes: set[int]) -> list[list[tuple[int, Annotation]]]:
    """Return the annotations drawn next to each box, with their indices. Open groups show none, and annotations of
    notes are left out."""
    by_child: list[list[tuple[int, Annotation]]] = [[] for _ in (*view.node_labels, *view.functions)]
    for index, annotation in enumerate(view.metagraph.annotations):
        if index not in in_notes and annotation.child not in view.opened and not annotation.training:
            by_child[annotation.child].append((index, annotation))
    return by_child


def _printed_stubs(stubs: list[tuple[int, Annotation]], node: NodeLabel, limit: int) -> list[tuple[int, Annotation]]:
    """Return the stubs next to a box of a figure: only the single weight of a box whose text does not describe it, such
    as an added position. A figure shows no constants and no neighbours elsewhere."""
    weights = [(index, stub) for index, stub in stubs if stub.kind == "weight"]
    return weights if limit and len(weights) == 1 and not node.second else []


def _links_of_open(view: View) -> list[list[str]]:
    """Return the names behind the stubs of each open group; [] for a closed group, which shows its stubs."""
    by_child: list[list[str]] = [[] for _ in (*view.node_labels, *view.functions)]
    for annotation in view.metagraph.annotations:
        if annotation.child in view.opened and not annotation.training:
            by_child[annotation.child].append(view.names.get(annotation.other, NO_NAME))
    return by_child


def _box_second_line(node: NodeLabel, links: int = 0) -> str:
    """Return the second line of a box: its words, or the parts of a fold with their count, unless it repeats the number
    of ops; in the title bar of an open group also the number of its stubs (`links`). The name of a series contains its
    count.

    >>> _box_second_line(NodeLabel(1, "", "series", "", "", "25 ops", "×25", member="op"))
    ''
    >>> _box_second_line(NodeLabel(1, "", "fold", "", "", "25 ops", "25 parts", member="op"), 2)
    '25 ops · 2 links'
    """
    second = node.second
    number = node.badge.removeprefix("×").replace(" parts", "")  # "×25" and "25 parts" are both 25
    counts = node.badge and second.startswith(f"{number} op")
    if node.kind == "series":
        second = "" if counts else second
    elif not counts:
        second = " · ".join(part for part in (node.badge, second) if part)
    return " · ".join(part for part in (second, count_of(links, "link") if links else "") if part)


PROJECTION = "projection"  # the layer beside the chain of layers of a first block
NAME_JOINTS = ("_", ".", "/", "-")


def name_in_stack(stack: str, member: str) -> str:
    """Return the name of a member of a stack without the name of the stack.

    >>> name_in_stack("conv4", "conv4_block2"), name_in_stack("conv4", "conv4_2"), name_in_stack("layer", "layer")
    ('block2', 'conv4_2', 'layer')
    """
    rest = member.removeprefix(stack)
    return rest[1:] if rest[:1] in NAME_JOINTS and rest[1:2] not in "0123456789" and rest != member else member


def stack_label(
    node: NodeLabel,
    picture_line: str | None,
    member: NodeLabel,
    shown: int,
    members: int,
    boxed: bool = False,
    grows: str = "",
) -> NodeLabel:
    """Return the label of a stack that shows the content of one member.

    - `picture_line`: the second line of the picture; None for the usual one.
    - `shown`: the position of `member` among the `members`; -1 if all have the same name.
    - `boxed`: the surplus of a member has a separate box, so a projection is not mentioned.
    - `grows`: words for sizes that grow from member to member.

    The layers of the shown member are visible, so they are not repeated if all members have the same and the stack has
    a name that is no list of parts.

    >>> node = NodeLabel(1, "", "series", "layer_[0-3]", "", "80 ops", "×4", connected=True)
    >>> label = stack_label(node, None, NodeLabel(2, "", "scope", "layer_1", "", "20 ops"), 1, 4)
    >>> label.label, label.second
    ('layer_[0-3] ×4', 'layer_1 shown · 20 ops each')
    """
    # A member that is a stack counts the ops of each of its members; a Keras layer (`about`) has a description.
    counted_each = member.kind == "series" and member.member not in ("op", "call") and not member.about
    content = f"{member.second} each" if member.second and not counted_each else member.second
    # The words of a layer hold for all members only if the stack has them, too.
    are_alike = member.second in (node.second, node.label) or node.second == f"{member.second} each"
    content = content if are_alike or " op" in node.second else node.second
    is_list = WORDS_DOT in node.label
    is_unlike = member.layers and not node.semibold and node.second not in (member.second, member.label)
    content = grows or ((node.second if is_list or is_unlike else "") if node.layers else content)
    order = "" if node.connected else "side by side"
    name = _name_on_box(member)
    is_named = shown >= 0 and WORDS_DOT not in name and not is_list
    shown_name = f"{name_in_stack(node.label, name)} shown" if is_named else ""
    first = _without_projection(node.first) if boxed else node.first
    shown_words = "; ".join(part for part in (shown_name, first) if part)
    if picture_line is not None:
        parts = (order, shown_words, picture_line)
    else:
        parts = (order, content, shown_words) if is_list else (order, shown_words, content)
    return replace(
        node,
        label=f"{node.label} {node.badge}".rstrip(" "),
        second=" · ".join(part for part in parts if part),
        badge="",
        first="",
        about=f"shown: {name}, one of {members}",
        stacked=True,
    )


def _without_projection(first: str) -> str:
    """Return the words for the surplus of a first member without the projection.

    >>> _without_projection("block1: /2, projection"), _without_projection("block1: projection")
    ('block1: /2', '')
    """
    return (
        "" if first.endswith(f": {PROJECTION}") else ", ".join(word for word in first.split(", ") if word != PROJECTION)
    )


def joined_label(nodes: Sequence[NodeLabel]) -> NodeLabel:
    """Return the label of a frame around nested scopes without other content; `nodes` are from the outside in.

    >>> outer = NodeLabel(1, "", "scope", "outer", "outer", "2 ops")
    >>> inner = NodeLabel(2, "", "scope", "3 → 4", "outer/inner", "inner")
    >>> label = joined_label([outer, inner])
    >>> label.row, label.label, label.second, label.full
    (1, 'outer/inner', '3 → 4', 'outer/inner')
    """
    inner = nodes[-1]
    names = [node.second if node.second == last_segment(node.full) else node.label for node in nodes]
    second = inner.second if names[-1] == inner.label else inner.label
    return replace(nodes[0], label="/".join(names), second=second, full=inner.full, about=inner.about)


def _name_on_box(node: NodeLabel) -> str:
    """Return the short name of a node, which is the second line if words are the first."""
    return node.second.partition(WORDS_DOT)[0] if node.semibold else node.label


def _box_tooltip(node: NodeLabel, links: list[str]) -> str:
    """Return the tooltip of a box; for an open group with the names behind its stubs, which are not drawn."""
    linked = f"linked with {', '.join(map(tooltip_name, links[:TOOLTIP_NAMES]))}" if links else ""
    times = node.badge if node.kind == "series" else ""
    words = ""
    if node.semibold:  # the tooltip begins with the whole name
        words, node = node.label, replace(node, second=node.second.partition(WORDS_DOT)[2])
    return " · ".join(
        part for part in (tooltip_name(node.full), times, words, _box_second_line(node), node.about, linked) if part
    )


def _line_end_names(view: View, line: MetagraphLine) -> tuple[str, str]:
    if not isinstance(line, Bridge):
        return view.node_labels[line.source].full, view.node_labels[line.target].full
    inside, outside = view.node_labels[line.child].full, view.names.get(line.other, NO_NAME)
    return (outside, inside) if line.inbound else (inside, outside)


PLAIN_SCHEME = "structure"  # the usual colouring, which needs no mention


def facts_line(hierarchy: Hierarchy, summary: str, scheme: str, left_out: int, weights: Cost) -> str:
    """Return the line below the title of a picture: the summary of its colouring, or counts and, if it is not the usual
    one, the colouring; then the number of bookkeeping ops of a saved model that are left out."""
    coloured = "" if scheme == PLAIN_SCHEME else f" · colour: {scheme}"
    facts = summary or f"{model_counts(hierarchy, weights)}{coloured}"
    return f"{facts} · {group_thousands(left_out)} op{'s' if left_out > 1 else ''} left out" if left_out else facts


def model_counts(hierarchy: Hierarchy, weights: Cost) -> str:
    """Return how many ops and, if known, parameters the model has; for a Keras file only parameters, because the frame
    of the model shows the number of layers."""
    parameters = _parameter_words(weights)
    if parameters and _is_keras_model(hierarchy):
        return parameters
    through = OpCounter(hierarchy)(0)
    ops = hierarchy.op_count(0) if through is None else through
    counted = f"{lower_bound_sign(ops)}{group_thousands(ops)} {plural_noun(ops, 'op')}" if ops or not parameters else ""
    return " · ".join(filter(None, (counted, parameters)))


def _is_keras_model(hierarchy: Hierarchy) -> bool:
    """Return whether a graph is the one model of a Keras file."""
    return sum(layer.parts and "/" not in name for name, layer in hierarchy.graph.layers.items()) == 1


def _parameter_words(weights: Cost) -> str:
    """Return a number of parameters, with a sign if it is a bound; "" if none are known.

    >>> _parameter_words(Cost(25_600_000)), _parameter_words(Cost(1)), _parameter_words(Cost())
    ('25.6 M parameters', '1 parameter', '')
    >>> _parameter_words(Cost(1200, doubtful=1)), _parameter_words(Cost(1200, repeated=9))
    ('≥ 1.2 k parameters', '≤ 1.2 k parameters')
    """
    count, sign = weights.parameters, BOUND_SIGNS[weights.bound_index("parameters")]
    return f"{sign}{format_count(count)} {plural_noun(count, 'parameter')}" if count else ""
