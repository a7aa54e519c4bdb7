"""Replace calls by the bodies of their functions, each inside the one before: nothing is copied before the last.

A graph whose whole content is one call is followed into the function, from there into what that calls, and so on. Each
graph on the way is a frame: the names that its nodes have at the end, and the tensors that replace its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import chain

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.ops.roles import CALLS
from graphviz_tb.proto import AttrValue, NodeDef
from graphviz_tb.read.block import Block, BlockNode, Body, reached_from
from graphviz_tb.read.inline import free_names, node_of, output_of, tensors


@dataclass(slots=True, eq=False)
class InlinedGraph:
    """A graph on the way: the names of its nodes outside, what each argument is there, and which nodes are kept.

    `call` is the call in it, `used` the outputs of that which are taken, `waiting` how many nodes wait for it.
    """

    depth: int
    body: Body
    names: Mapping[str, str]
    given: Mapping[str, str]
    kept: list[str]
    call: str | None = None
    used: set[int] = field(default_factory=set)
    waiting: int = 0
    sources: dict[str, str] = field(default_factory=dict)  # the nodes of what is given
    controls: dict[str, str] = field(default_factory=dict)  # and control inputs of these, each made once
    told: dict[str, dict[str, AttrValue]] = field(default_factory=dict)

    def source(self, text: str) -> str:
        """The name outside of the node of an input string."""
        name = node_of(text)
        return self.names[name] if name in self.names else self.sources.get(name, name)

    def outside(self, text: str) -> str:
        """How an input string reads outside."""
        control = "^" if text.startswith("^") else ""
        name, colon, key = text.removeprefix("^").partition(":")
        # An argument; a node of the body that has its name hides it.
        if name in self.given and name not in self.names:
            return self.control(name) if control else self.given[name]
        made = self.names.get(name, name)
        return text if made == name else f"{control}{made}{colon}{key}"

    def control(self, argument: str) -> str:
        """The control input that waits for what is given as an argument."""
        if argument not in self.controls:
            self.controls[argument] = f"^{self.sources[argument]}"
        return self.controls[argument]


class Translation:
    """How inputs in a frame read in the end, given what takes the place of its call: results, and nodes to wait for."""

    def __init__(self, frame: InlinedGraph, call: str | None, results: list[list[str]], waits: list[str]) -> None:
        self.frame, self.call, self.results, self.waits = frame, call, results, waits

    def __call__(self, text: str) -> list[str]:
        if self.call is None or node_of(text) != self.call:
            return [self.frame.outside(text)]
        # Who waited for the call waits for all that the body does beside its results.
        if text.startswith("^"):
            return self.waits
        index = output_of(text)
        return self.results[index] if index < len(self.results) else []

    def inputs(self, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """All inputs of a node: a tensor may be taken twice; to wait twice for one node is to wait once."""
        made = [new for text in inputs for new in self(text)]
        control = dict.fromkeys(text for text in made if text.startswith("^"))
        found = (*tensors(made), *control) if control else tuple(made)
        return inputs if found == inputs else found


class Opening:
    """A graph whose calls are opened, one inside the other.

    `without_content` are the ops beside which a call may be all there is; where it is `pruned`, nodes that no result
    needs are left out, and free their names.
    """

    def __init__(self, main: Body, without_content: Container[str], pruned: bool) -> None:
        self.without_content, self.pruned = without_content, pruned
        self.frames: list[InlinedGraph] = []
        self.places: dict[str, tuple[InlinedGraph, str]] = {}  # of each node: the frame, and its name there
        self.uses: Counter[str] = Counter()  # of each node, where that is counted
        self._enter(main, {}, range(len(main.results)))

    @property
    def call(self) -> NodeDef | None:
        """The call that is all there is."""
        last = self.frames[-1]
        return None if last.call is None else last.body.nodes[last.call]

    @property
    def waiting(self) -> int:
        """How many nodes wait for that call."""
        return self.frames[-1].waiting

    def given(self) -> list[str]:
        """The tensors that it is given."""
        last = self.frames[-1]
        return [] if last.call is None else [last.outside(each) for each in tensors(last.body.inputs[last.call])]

    def node(self, name: str) -> NodeDef | None:
        """The node that has a name; None where none has."""
        frame, local = self.places.get(name, (None, ""))
        return None if frame is None else frame.body.nodes[local]

    def says(self, name: str, key: str) -> bool:
        """Whether a node that is there has an attribute."""
        frame, local = self.places[name]
        return key in frame.body.nodes[local].attr or key in frame.told.get(local, {})

    def tell(self, name: str, key: str, value: AttrValue) -> None:
        """Have a node that is there say something."""
        frame, local = self.places[name]
        frame.told.setdefault(local, {})[key] = value

    def open(self, body: Body) -> None:
        """The nodes of the body take the place of the call; one whose name is taken gets a number."""
        before, given = self.frames[-1], dict(zip(body.arguments, self.given(), strict=False))
        call = before.call or ""
        # The call's own name is free: it goes.
        self.places.pop(before.names[call])
        self.uses.pop(before.names[call], None)
        self._enter(body, given, before.used)
        self._release(before, call)

    def _enter(self, body: Body, given: Mapping[str, str], used: Iterable[int]) -> None:
        ends = [body.results[index] for index in sorted(used) if index < len(body.results)]
        ends += (f"^{effect}" for effect in body.effects)
        inside = reached_from(body.inputs, map(node_of, ends)) if self.pruned else body.nodes.keys()
        kept = [name for name in body.nodes if name in inside]
        names = free_names(body.nodes, self.places)
        frame = InlinedGraph(len(self.frames), body, names, given, kept)
        frame.sources |= {name: node_of(tensor) for name, tensor in given.items()}
        content = [name for name in kept if body.nodes[name].op not in self.without_content]
        if len(content) == 1 and body.nodes[content[0]].op in CALLS:
            frame.call = content[0]
        self.places |= {names[name]: (frame, name) for name in kept}
        self._count(frame, ends if self.pruned else list(body.results))
        if frame.call in body.effects and self.frames:
            frame.waiting += self.frames[-1].waiting  # who waited for the call around it
        self.frames.append(frame)

    def _count(self, frame: InlinedGraph, ends: list[str]) -> None:
        """Count the uses of nodes, and of the outputs of the call."""
        taken = [ends, *(frame.body.inputs[name] for name in frame.kept)]
        if self.pruned:
            self.uses.update(map(frame.source, chain.from_iterable(taken)))
        for inputs in taken if frame.call is not None else ():
            of_call = [text for text in inputs if node_of(text) == frame.call]
            data = tensors(of_call)
            frame.used.update(map(output_of, data))
            frame.waiting += inputs is not ends and len(data) < len(of_call)

    def _release(self, frame: InlinedGraph, local: str) -> None:
        """Before: a node that has gone. After: what only it used is gone, too, where that is counted."""
        waiting = [(frame, local)] if self.pruned else []
        while waiting:
            frame, local = waiting.pop()
            for name in map(frame.source, frame.body.inputs[local]):
                place = self.places.get(name)
                # What is further inside has a name that was free: it is not what is meant.
                if place is None or place[0].depth > frame.depth:
                    continue
                self.uses[name] -= 1
                if not self.uses[name]:
                    waiting.append(self.places.pop(name))

    def block(self) -> Block:
        """Return the opened graph as a block: inputs are written out, and equal ones share one string."""
        placed: list[dict[str, BlockNode]] = []
        results: list[list[str]] = []
        waits: list[str] = []
        # Innermost first: what a call returns is known when its users are written.
        for frame in reversed(self.frames):
            opened = frame is not self.frames[-1]
            translate = Translation(frame, frame.call if opened else None, results, waits)
            kept = [name for name in frame.kept if self.places.get(frame.names[name]) == (frame, name)]
            placed.append({frame.names[name]: self._placed(frame, name, translate) for name in kept})
            results = [translate(text) for text in frame.body.results]
            waits = list(dict.fromkeys(each for name in frame.body.effects for each in translate(f"^{name}")))
        nodes = {name: node for each in reversed(placed) for name, node in each.items()}
        return Block(nodes, tuple(chain.from_iterable(results)), tuple(self._effects()))

    def _placed(self, frame: InlinedGraph, name: str, translate: Translation) -> BlockNode:
        inputs = frame.body.inputs[name]
        made = translate.inputs(inputs) if inputs and len(self.frames) > 1 else inputs
        return BlockNode(frame.body.nodes[name], inputs, made, frame.told.get(name, {}))

    def _effects(self) -> Iterator[str]:
        *around, last = self.frames
        for frame in around:
            yield from (frame.names[effect] for effect in frame.body.effects if effect != frame.call)
        yield from (last.names[effect] for effect in last.body.effects)
