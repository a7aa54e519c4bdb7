"""Words of papers for a part of a network: `3×3, 64, /2`, `768 → 3072 → 768, GELU`, `12 heads × 64`.

Words come from shapes of weights, attributes, constants, settings of Keras layers and recorded shapes. Unknown facts
are left out. Pictures, pages, outlines and `tree` all use these words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from threading import get_ident
from typing import NamedTuple

import numpy as np

from graphviz_tb.graphs.traversal import reachable_from, topological_order
from graphviz_tb.model.columns import Bools, Ints, distinct_values
from graphviz_tb.model.formatting import format_count
from graphviz_tb.model.hierarchy import (
    L2_NORM_ORIGIN,
    LAYER_ORIGIN,
    OP_ROW,
    SCAN_ORIGIN,
    SERIES_ROW,
    TRAINING_ORIGIN,
    GroupOrigin,
    Hierarchy,
)
from graphviz_tb.model.paths import is_stack, repeated_rows, sole_stack
from graphviz_tb.ops.roles import (
    CONVOLUTION_OPS,
    EMBEDDING_LOOKUP_OPS,
    MATRIX_PRODUCT_OPS,
    RANGE_OPS,
)
from graphviz_tb.words.block import Block, both_ways_words, scan_words
from graphviz_tb.words.block_words import block_words, whole_chain
from graphviz_tb.words.equal_rows import EqualRows
from graphviz_tb.words.layer_steps import TensorFlowSteps
from graphviz_tb.words.parameters import ParameterCounts, size_words
from graphviz_tb.words.row_blocks import MAX_BLOCK_NODES, RowBlocks
from graphviz_tb.words.shared_words import (
    RANGE,
    SHARED,
    counted_words,
    fits,
    more_words,
    says_heads,
    shared_words,
    short_word,
    table_words,
)
from graphviz_tb.words.step_words import (
    UNKNOWN_STEP,
    WEIGHTED_KINDS,
    LayerStep,
    size_word,
)

MAX_LISTED_MEMBERS = 4  # members of a stack that are described one by one
MAX_LISTED_CHANNELS = 6  # members of a stack, or parts of a group, whose channels are listed
MAX_COMPARED_MEMBERS = 64  # members of a stack whose words are compared
MAX_NESTED_GROUPS = 4  # nested groups whose parts are described as parts of the outermost
UNSAID = "?"
TOLD_KINDS = frozenset({*WEIGHTED_KINDS, "scores", "unknown"})
MAX_NORM_OPS = 40
POSITION_BIAS = "position bias"  # looked up by distances, which are computed from ranges
COUNTS = re.compile(r" (?:layers|blocks) · | parameters?\b")  # words that only count
FORWARD_BEHIND = re.compile(r", (?:[^,]* → |gated ).*")  # the feed-forward block behind the heads of attention
MAX_OTHER_LAYERS = 3  # beside the equal blocks of a group: tables of tokens and of positions, a projection


def _steps_of_hierarchy(hierarchy: Hierarchy) -> TensorFlowSteps:
    """Return the reader of steps for the framework of a graph."""
    if hierarchy.graph.is_value_trace:
        from graphviz_tb.words.pytorch_steps import PyTorchSteps

        return PyTorchSteps(hierarchy)
    if hierarchy.graph.is_exported:
        from graphviz_tb.words.exported_steps import ExportedSteps

        return ExportedSteps(hierarchy)
    return TensorFlowSteps(hierarchy)


def paper_words(hierarchy: Hierarchy) -> PaperWords:
    """Return the `PaperWords` of a hierarchy; cached, one for each thread."""
    known, thread = hierarchy.paper_words, get_ident()
    if thread not in known:
        known[thread] = PaperWords(hierarchy)
    words: PaperWords = known[thread]
    return words


class OrderedWords(NamedTuple):
    """The words of the parts of a group in order."""

    words: list[str]  # [] if there are none
    before: int = -1  # number of words before the first stack; -1 if there is no stack


class PaperWords:
    """Words of papers for the groups and layers of a hierarchy."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.graph = hierarchy.graph
        self.steps = _steps_of_hierarchy(hierarchy)
        self.parameters = ParameterCounts(hierarchy, self.steps)
        self.blocks = RowBlocks(hierarchy, self.steps, self.parameters)
        self._row_words: dict[int, str | None] = {}  # by row, with counts
        self._block_words: dict[tuple[int, LayerStep], str | None] = {}  # by id of a block, and unknown step
        self._layer_words: dict[int, str | None] = {}  # by row, without counts
        self._equal = EqualRows(hierarchy, self.parameters, self.blocks)

    def words_of_row(self, row: int) -> str | None:
        """Return the words for a row; "" if it needs no words, None if it is unknown."""
        if row not in self._row_words:
            quiet = not len(self.graph.meaning.origin) or (row > 0 and bool(self._training_rows[row]))
            same = row if quiet else self._equal.first_equal(row)
            words = None if quiet else self._words(same)
            if words is None and self.hierarchy.can_open(row) and not quiet:
                words = self._size(row) if same == row else self.words_of_row(same)
            self._row_words[row] = words
        return self._row_words[row]

    def first_of(self, row: int) -> str | None:
        """Return the words of the first member of a stack if they differ from those of the stack."""
        stack = sole_stack(self.hierarchy, row)
        if stack < 0 or not is_stack(self.hierarchy, stack) or not (shared := self.words_of_row(row)):
            return None
        members = repeated_rows(self.hierarchy, stack)
        if len(members) < 3 or not self._has_unlike_first(members):
            return None
        first = self.words_of_row(members[0])
        return first if first != shared and self.tells_layers(row) and self.tells_layers(members[0]) else None

    def more_of_first(self, row: int) -> str:
        """Return the words of the first member of a stack that are missing in the words of the stack, `/2, projection`;
        "" if it also differs in other ways."""
        if not (first := self.first_of(row)):
            return ""
        # The words of the stack may be shortened, so compare with the second member.
        members = repeated_rows(self.hierarchy, sole_stack(self.hierarchy, row))[:2]
        whole = [
            whole_chain(self.blocks.block_of(nodes))
            for nodes in map(self.blocks.nodes_below, members)
            if nodes is not None
        ]
        return more_words(*whole) if len(whole) == 2 and all(whole) else more_words(first, self.words_of_row(row) or "")

    def of_nodes(self, nodes: Sequence[int]) -> str | None:
        """Return the words for a group of some ops of the model; `POSITION_BIAS` for a table of relative positions."""
        computing = distinct_values(np.array(nodes, np.int32))
        computing = computing[self.parameters.of_model[computing]]
        if not 0 < len(computing) <= MAX_BLOCK_NODES:
            return None
        ops = {self.steps.op_of(node) for node in computing.tolist()}
        if ops.isdisjoint(EMBEDDING_LOOKUP_OPS):
            return self._words_of_block(self.blocks.block_of(computing))
        if not ops.isdisjoint(CONVOLUTION_OPS | MATRIX_PRODUCT_OPS):
            return None
        # Distances are integers, which do not count as computation if dtypes are known.
        return POSITION_BIAS if any(self.steps.op_of(node) in RANGE_OPS for node in nodes) else None

    def _has_unlike_first(self, members: Sequence[int]) -> bool:
        return bool(self.hierarchy.template[members[0]] != self.hierarchy.template[members[-1]])

    def tells_layers(self, row: int) -> bool:
        """Return whether the words for a row describe its layers, and do not only count."""
        said = self.words_of_row(row)
        return bool(said) and not COUNTS.search(said or "")

    def is_one_layer(self, row: int) -> bool:
        """Return whether a row has at most one kernel and is no stack."""
        return sole_stack(self.hierarchy, row) < 0 and self.parameters.counts_below(row)[1] <= 1

    @cached_property
    def _training_rows(self) -> Bools:
        """Rows in groups that training added, and these groups."""
        mask = np.zeros(len(self.hierarchy), bool)
        for row in np.flatnonzero(self.hierarchy.how == TRAINING_ORIGIN).tolist():
            mask[row : self.hierarchy.end[row]] = True
        return mask

    def _words(self, row: int) -> str | None:
        """Return the words for a row; None if papers have no words for its parts."""
        if row not in self._layer_words:
            same = self._equal.first_equal(row)
            self._layer_words[row] = self._describe(row) if same == row else self._words(same)
        return self._layer_words[row]

    def _describe(self, row: int) -> str | None:
        if self.hierarchy.kind.item(row) == OP_ROW and row not in self.hierarchy.calls:
            return self._op_words(row)
        stack = sole_stack(self.hierarchy, row)
        if self.hierarchy.kind[row] == SERIES_ROW and any(map(self._words, repeated_rows(self.hierarchy, row))):
            stack = row  # of ops
        if stack >= 0:
            return self._stack_words(stack)
        if (layer_steps := self.blocks.layer_steps(row)) is not None:
            return block_words(Block(layer_steps))
        if self.hierarchy.how[row] == L2_NORM_ORIGIN:
            return ""  # its name is enough
        nodes = self.blocks.nodes_below(row)
        if nodes is not None and self.hierarchy.how[row] == LAYER_ORIGIN and (words := self._unsized_words(row, nodes)):
            return words
        if nodes is None:
            return None
        if self.hierarchy.how[row] == SCAN_ORIGIN:
            return scan_words(self.steps, nodes)
        words = self._group_words(nodes)
        if words is None and self.hierarchy.how.item(row) == GroupOrigin.FEED_FORWARD:  # with weights of unknown size
            steps = (step for node in nodes.tolist() for step in self.steps.steps_of(node))
            words = next((f"gated, {step.word}" for step in steps if step.kind == "activation"), "gated")
        return self._with_sharing(row, nodes, words)

    def _unsized_words(self, row: int, nodes: Ints) -> str | None:
        """Return the words for a layer with a weight of unknown size: the type of its op, unless that is its name, then
        its norm and its activation."""
        listed = nodes.tolist()
        steps_of_nodes = zip(listed, self.steps.steps_of_all(listed), strict=True)
        unknown = [node for node, steps in steps_of_nodes if UNKNOWN_STEP in steps]
        if len(unknown) != 1:
            return None
        kind = self.steps.op_of(unknown[0]).rpartition("::")[2]
        if self.hierarchy.display_label(row).startswith(kind):
            return None
        return self._words_of_block(self.blocks.block_of(nodes), LayerStep("convolution", kind))

    def _words_of_block(self, block: Block, known: LayerStep = UNKNOWN_STEP) -> str | None:
        """Return the words for a block, with `known` in place of an unknown step; cached by block."""
        key = id(block), known
        if key not in self._block_words:
            steps = tuple([known if step == UNKNOWN_STEP else step for step in block.steps])
            self._block_words[key] = block_words(replace(block, steps=steps))
        return self._block_words[key]

    def _group_words(self, nodes: Ints) -> str | None:
        words = self._words_of_block(self.blocks.block_of(nodes))
        return None if words == "" and len(nodes) > MAX_NORM_OPS else words

    def _stack_words(self, stack: int) -> str | None:
        """Return the common words of the members of a stack; for stages that are stacks also their numbers of
        blocks."""
        words = self._member_words(stack)
        members = repeated_rows(self.hierarchy, stack)[:MAX_COMPARED_MEMBERS]
        inner_stacks = [sole_stack(self.hierarchy, member) for member in members]
        block_counts = {len(repeated_rows(self.hierarchy, row)) if row >= 0 else 0 for row in inner_stacks}
        if len(block_counts) != 1 or not (count := block_counts.pop()):
            return words
        stages = f"{len(members)} stages × {count}"
        line = f"{stages} · {words}"
        return line if words and fits(line) else stages

    def _member_words(self, stack: int) -> str | None:
        """Return the words that all members share, or, if there are few, the words of each; the first may have more."""
        members = repeated_rows(self.hierarchy, stack)
        if len(members) > MAX_COMPARED_MEMBERS:
            return None
        all_words = [self._words(member) for member in members]  # members of one structure may differ in stride
        unlike_first = self._has_unlike_first(members)
        # Of two members, neither is the usual one.
        usual = all_words[1:] if unlike_first and len(members) > 2 else all_words
        if None not in usual and len(set(usual)) == 1:
            return usual[0]
        known = [text for text in all_words if text]
        if len(known) != len(members):
            return None
        short_words = [short_word(text).partition(" · ")[0] for text in known]
        line = ", ".join(short_words)
        if len(short_words) <= MAX_LISTED_MEMBERS and fits(line) and not unlike_first:
            return line
        known_usual = known[len(all_words) - len(usual) :]
        lines = (self._growth_words(members), shared_words(known), shared_words(known_usual), table_words(known))
        return next(filter(None, lines), None)

    def _members(self, row: int) -> Sequence[int]:
        """Return the members of the stack as which a row is drawn; () for any other row."""
        stack = sole_stack(self.hierarchy, row)
        return repeated_rows(self.hierarchy, stack) if stack >= 0 and is_stack(self.hierarchy, stack) else []

    def _growth_words(self, members: Sequence[int]) -> str:
        """Return the output channels of the members of a stack, if they grow or shrink; otherwise ""."""
        widths = [self._gives(member) for member in members] if len(members) <= MAX_LISTED_CHANNELS else [0]
        ascending = widths if widths[0] < widths[-1] else widths[::-1]
        is_monotonic = all(widths) and sorted(widths) == ascending and widths[0] != widths[-1]
        line = f"→ {', '.join(map(size_word, widths))}"
        return line if is_monotonic and fits(line) else ""

    def growth_of(self, row: int) -> str:
        """Return the output channels of the members of a stack, if they grow although the words of all are equal."""
        members = self._members(row)
        is_short = 0 < len(members) <= MAX_LISTED_CHANNELS and self.tells_layers(row)
        has_equal_words = is_short and {self._words(member) for member in members} == {self.words_of_row(row)}
        return self._growth_words(members) if has_equal_words else ""

    def inner_growth_of(self, row: int) -> str:
        """Return the channels of the layers that grow in a stack, of the first member, then of the next:
        `128, then 160, 160, 192`; "" if these layers have several widths within a member."""
        members = self._members(row)
        below = [self.blocks.nodes_below(member) for member in members] if len(members) <= MAX_LISTED_CHANNELS else []
        steps = [self.blocks.block_of(nodes).steps for nodes in below if nodes is not None]
        widths = [[step.out_width for step in block if step.kind in WEIGHTED_KINDS] for block in steps]
        if len(steps) < len(members) or len({*map(len, widths)}) != 1:
            return ""
        growing = {column for column in zip(*widths, strict=True) if len({*column}) > 1}
        first, *rest = map(size_word, growing.pop()) if len(growing) == 1 else ("",)
        return f"{first}, then {', '.join(rest)}" if rest else ""

    def _gives(self, row: int) -> int:
        nodes = self.blocks.nodes_below(row)
        return 0 if nodes is None else self.blocks.block_of(nodes).output_channels()

    def _op_words(self, row: int) -> str | None:
        node = int(self.hierarchy.node[row])
        if node < 0 or not self.parameters.of_model[node]:
            return None
        if (layer := self.blocks.layer_steps(row)) is not None:
            return block_words(Block(layer))
        steps = [step for step in self.steps.steps_of(node) if step.kind not in ("activation", "norm")]
        return self._with_sharing(row, np.array([node], np.int32), steps[0].line or None) if steps else None

    def _with_sharing(self, row: int, nodes: Ints, words: str | None) -> str | None:
        """Return the words of one layer, with a note if another layer of the model uses its kernel, too; only the note
        if the size of the kernel is unknown."""
        if words == "" or len(nodes) > MAX_NORM_OPS or (words is None and self.parameters.counts_below(row)[0]):
            return words
        weights = {step.weight for node in nodes.tolist() for step in self.steps.steps_of(node) if step.weight >= 0}
        weights = weights if words else self.parameters.kernels_below(row)
        if len(weights) != 1:
            return words
        is_shared = not self.parameters.kernel_users.get(weights.pop(), set()).issubset(nodes.tolist())
        if words is None:
            return SHARED if is_shared else None
        lines = (f"{words} · {SHARED}", f"{words.partition(' · ')[0]} · {SHARED}") if is_shared else ()
        return next(filter(fits, lines), words)

    def shares_all_kernels(self, row: int) -> bool:
        """Return whether all kernels of a group of several layers, or of a stack, are also used outside of it, and its
        words do not mention that: a network that is applied again, such as the discriminator of a GAN."""
        if SHARED in (self.words_of_row(row) or ""):
            return False
        stack = sole_stack(self.hierarchy, row)
        row = repeated_rows(self.hierarchy, stack)[0] if stack >= 0 and is_stack(self.hierarchy, stack) else row
        kernels, end = self.parameters.kernels_below(row), int(self.hierarchy.end[row])
        if len(kernels) < (2 if stack < 0 else 1):  # the words of a single layer mention it
            return False
        rows, users = self.hierarchy.row_of_node, self.parameters.kernel_users
        return all(any(not row <= rows[user] < end for user in users.get(kernel, ())) for kernel in kernels)

    # Groups that are not a layer.

    def _size(self, row: int) -> str | None:
        """Return the numbers of layers and parameters of a group; for a stack those of each member, if equal."""
        members = self._members(row)
        if words := self._ordered_words_of_members(members):
            return words
        member_counts = self.parameters.counts_below(members[0]) if members else (0, 0)
        if member_counts[0] and all(self.parameters.counts_below(member) == member_counts for member in members):
            return f"{size_words(*member_counts)} each"
        count, layers = self.parameters.counts_below(row)
        parts = "" if members else self._counted_parts(row)
        return parts or self._block_count_words(row, count, layers) or size_words(count, layers)

    def _counted_parts(self, row: int) -> str:
        """Return the words of the parts of a group in order, with repetitions counted; "" if there are none."""
        return counted_words(*self._words_in_order(row))

    def _ordered_words_of_members(self, members: Sequence[int]) -> str:
        """Return the words that all members of a stack share for their parts in order; "" if there are none."""
        if not 0 < len(members) <= MAX_COMPARED_MEMBERS:
            return ""
        first_equal = list(map(self._equal.first_equal, members))
        words = {member: self._words(member) or self._counted_parts(member) for member in dict.fromkeys(first_equal)}
        all_words = [words[member] for member in first_equal]
        usual = all_words[1:] if len(all_words) > 2 and self._has_unlike_first(members) else all_words
        return (usual[0] if len(set(usual)) == 1 else shared_words(usual)) if all(usual) else ""

    def _words_in_order(self, row: int, depth: int = 0) -> OrderedWords:
        """Return the words of the parts of a group with layers.

        There are no words if the parts do not feed one another in order, or if several repeat attention: the blocks of
        an encoder are not those of a decoder.
        """
        parts = self.hierarchy.children(row).tolist()
        if len(parts) > MAX_COMPARED_MEMBERS or depth == MAX_NESTED_GROUPS:
            return OrderedWords([])
        number_of = {part: number for number, part in enumerate(parts)}
        edges = self.hierarchy.owned_edges(row)
        ends = self.hierarchy.edge_from[edges].tolist(), self.hierarchy.edge_to[edges].tolist()
        after: list[list[int]] = [[] for _ in parts]
        for source, target in zip(*ends, strict=True):
            if source in number_of and target in number_of:
                after[number_of[source]].append(number_of[target])
        words: list[str] = []
        before = -1
        repeats = 0  # parts with several blocks of attention
        downstream = set(range(len(parts)))  # of the last part with words
        order = topological_order(after)
        for number in order if len(order) == len(parts) else ():
            part_words, start = self._part_words(parts[number], depth)
            if not part_words:
                continue
            reached = reachable_from([number], after.__getitem__)
            is_beside = number not in downstream
            if is_beside and part_words == words and (both := both_ways_words(self.steps, row, *words[:1])):
                words, downstream = [both], downstream & reached
                continue
            repeats += sum(map(says_heads, part_words)) > 1
            if UNSAID in part_words or is_beside or repeats > 1:
                return OrderedWords([])
            before = len(words) + start if before < 0 <= start else before
            words += part_words
            downstream = reached
        return OrderedWords(words, before)

    def _part_words(self, part: int, depth: int) -> OrderedWords:
        """Return the words of a part of a group (for a stack those of each member); [] without layers, `UNSAID` if its
        layers have no words."""
        nodes = self.blocks.nodes_below(part)
        listed = () if nodes is None else nodes.tolist()
        layers = sum([step.kind in TOLD_KINDS for steps in self.steps.steps_of_all(listed) for step in steps])
        if nodes is not None and not layers:
            return OrderedWords([])
        unsaid = OrderedWords([UNSAID])
        stack = sole_stack(self.hierarchy, part)
        members = self._members(part)
        if members and not self.hierarchy.connected[stack]:
            return unsaid  # its members are side by side
        if words := self._words(part):
            # A layer alone has commas between its own words.
            known = [short_word(words).partition(" · ")[0]] if layers == 1 else words.split(", ")
            return OrderedWords(known * (len(members) or 1), 0 if members else -1)
        if len(members) > MAX_COMPARED_MEMBERS:
            return unsaid
        if members:
            of_members = [self._part_words(member, depth + 1).words for member in members]
            repeat_attention = any(sum(map(says_heads, each)) > 1 for each in of_members)
            return unsaid if repeat_attention else OrderedWords([word for each in of_members for word in each], 0)
        inner = self._words_in_order(part, depth + 1)
        return inner if inner.words else unsaid

    def _block_count_words(self, row: int, count: int, layers: int) -> str | None:
        """Return the number of equal blocks of a group and the words of a block: `6 × (4 heads × 64)`."""
        blocks = self._alike_blocks(row, layers) if layers else ()
        if self.blocks.call_count(row) > sum(map(self.blocks.call_count, blocks)):
            return None  # a function may contain other layers
        if not blocks:
            return None
        usual = blocks[1:] if len(blocks) > 2 else blocks  # the first may have more
        usual_words = [self._words(block) or "" for block in usual]
        shared = usual_words[0] if len(set(usual_words)) == 1 else shared_words(usual_words)
        if not shared and any(usual_words):
            return None
        if RANGE in shared:  # of dilations: that of all blocks
            shared = shared_words([self._words(block) or "" for block in blocks]) or shared
        count_line = f"{len(blocks)} blocks · {format_count(count)}" if count else f"{len(blocks)} blocks"
        if router := self._router_words(row, blocks):
            lines = (f"{router}, {words}" for words in (shared, shared.partition(", ")[0]) if words)
            return next(filter(fits, lines), router)
        variants = (f"{len(blocks)} × ({words})" for words in (shared, FORWARD_BEHIND.sub("", shared)) if words)
        return next(filter(fits, variants), count_line)

    def _router_words(self, row: int, blocks: Sequence[int]) -> str:
        """Return the number of the equal blocks of a group as experts, and how many of them a router chooses, a layer
        with an output for each; "" if there is no router."""
        start, stop = row, int(self.hierarchy.end[row])
        in_block = np.zeros(stop - start, bool)
        for block in blocks:
            in_block[block - start : int(self.hierarchy.end[block]) - start] = True
        nodes = self.hierarchy.node[start:stop][self.hierarchy.is_ordinary_op[start:stop] & ~in_block]
        if len(nodes) > MAX_BLOCK_NODES:
            return ""
        computing = nodes[self.parameters.of_model[nodes]].tolist()
        among = set(computing)
        steps = [step for node in computing for step in self.blocks.steps_among(node, among)]
        router_words = {step.word for step in steps if step.kind == "top"}
        has_router = any(step.kind == "dense" and step.out_width == len(blocks) for step in steps)
        return f"{len(blocks)} experts, {router_words.pop()}" if has_router and len(router_words) == 1 else ""

    def _alike_blocks(self, row: int, layers: int) -> Sequence[int]:
        """Return the members of the stack that contains nearly all layers of a group, or its groups of layers if their
        words have something in common; () for any other group."""
        while True:
            below = self.hierarchy.children(row).tolist()
            kernel_counts = {
                part: self.parameters.counts_below(part)[1] for part in below if len(below) <= MAX_COMPARED_MEMBERS
            }
            parts = [part for part in kernel_counts if kernel_counts[part]]
            largest = max(parts, key=kernel_counts.__getitem__, default=-1)
            if largest < 0 or not self.hierarchy.can_open(largest):
                return ()
            stack = sole_stack(self.hierarchy, largest)
            others = layers - kernel_counts[largest]
            if len(parts) > 1 and others > MAX_OTHER_LAYERS:
                if any(sole_stack(self.hierarchy, part) >= 0 for part in parts):
                    return ()  # the words of a stack are those of each member
                words_of_parts = [self._words(part) if self.hierarchy.can_open(part) else None for part in parts]
                known_words = [words for words in words_of_parts if words is not None]
                is_short = len(known_words) == len(parts) <= MAX_LISTED_CHANNELS
                return parts if is_short and (len(set(known_words)) == 1 or shared_words(known_words)) else ()
            if stack >= 0 and is_stack(self.hierarchy, stack) and self.hierarchy.connected[stack]:
                members = repeated_rows(self.hierarchy, stack)
                is_dominant = (
                    len(members) <= MAX_COMPARED_MEMBERS and others < self.parameters.counts_below(members[-1])[1]
                )
                return members if is_dominant else ()
            row = largest
