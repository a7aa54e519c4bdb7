"""Networks of any seed: stages of repeated blocks as programs write them, and how many blocks each stage has.

`network(seed, form)` gives a graph and its true counts. Forms: scopes as written; scopes flattened into names; the
counted names of Keras; no names at all; no names, and the nodes in any order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graphviz_tb.proto import GraphDef, NodeDef

FORMS = ("scopes", "flat", "counted", "nameless", "shuffled")
NAMED = FORMS[:3]
Block = Callable[["Writer", str, int, int, bool], str]  # input, width, stride, whether it is the first of its stage


@dataclass
class Writer:
    """Writes the nodes of a program: ops below the scopes that are open, weights beside them."""

    form: str
    chance: random.Random
    graph: GraphDef = field(default_factory=GraphDef)
    scopes: list[str] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)
    width: int = 0  # channels of what flows
    kept: dict[str, str] = field(default_factory=dict)  # what an early block makes for later ones

    def __post_init__(self) -> None:
        self.style = self.chance.choice(("const", "resource", "argument", "variable"))
        self.bias, self.eps = self.chance.random() < 0.7, self.chance.random() < 0.5

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Open a scope; where names are counted, only layers have one."""
        if self.form == "counted":
            yield
            return
        self.scopes.append(name)
        yield
        self.scopes.pop()

    @contextmanager
    def layer(self, kind: str, name: str) -> Iterator[None]:
        """Open the scope of a layer: its own name, or its kind and a counter."""
        if self.form == "counted":
            outer, self.scopes = self.scopes, ["model", self.counted(kind)]
            yield
            self.scopes = outer
            return
        with self.scope(name):
            yield

    def counted(self, kind: str) -> str:
        """The next name of a layer of a kind."""
        self.taken["#" + kind] += 1
        return kind if self.taken["#" + kind] == 1 else f"{kind}_{self.taken['#' + kind] - 1}"

    def op(self, kind: str, *inputs: str, name: str = "", **ints: list[int] | int | bool) -> str:
        """Write an op and return its name."""
        scopes = [scope for scope in self.scopes if scope]
        if self.form == "counted" and len(scopes) < 2 and kind not in ("Placeholder", "Const"):
            scopes = ["model", self.counted("tf." + kind.lower())]
        full = "/".join([*scopes, name or kind])
        self.taken[full] += 1
        full = full if self.taken[full] == 1 else f"{full}_{self.taken[full] - 1}"
        node = NodeDef(name=full, op=kind, input=inputs)
        for key, value in ints.items():
            if isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, int):
                node.attr[key].i = value
            else:
                node.attr[key].list.i.extend(value)
        if kind not in ("VarHandleOp", "Const", "Placeholder", "VariableV2"):
            node.attr["T"].type = 1
        self.graph.node.append(node)
        return full

    def constant(self, *shape: int, name: str = "Const", dtype: int = 1) -> str:
        """Write a constant without its values."""
        full = self.op("Const", name=name)
        attr = self.graph.node[-1].attr
        attr["dtype"].type = attr["value"].tensor.dtype = dtype
        for size in shape:
            attr["value"].tensor.tensor_shape.dim.add(size=size)
        return full

    def weight(self, name: str, *shape: int) -> str:
        """Write a weight and what reads it."""
        if self.style == "const":
            return self.op("Identity", self.constant(*shape, name=name), name=f"{name}/read")
        if self.style == "variable":
            made = self.op("VariableV2", name=name)
            for size in shape:
                self.graph.node[-1].attr["shape"].shape.dim.add(size=size)
            self.graph.node[-1].attr["dtype"].type = 1
            return self.op("Identity", made, name=f"{name}/read")
        made = self.op("VarHandleOp" if self.style == "resource" else "Placeholder", name=name)
        attr = self.graph.node[-1].attr
        attr["dtype"].type = 1 if self.style == "resource" else 20
        for size in shape:
            attr["shape"].shape.dim.add(size=size)
        return self.op("ReadVariableOp", made, name=f"{name}/ReadVariableOp")

    def conv(self, x: str, width: int, kernel: int = 3, stride: int = 1, name: str = "conv") -> str:
        """A convolution."""
        with self.layer("conv2d", name):
            weight = self.weight("kernel", kernel, kernel, self.width, width)
            x = self.op("Conv2D", x, weight, strides=[1, stride, stride, 1])
            if self.bias:
                x = self.op("BiasAdd", x, self.weight("bias", width))
        self.width = width
        return x

    def depthwise(self, x: str, kernel: int = 3, stride: int = 1, name: str = "dw") -> str:
        """A depthwise convolution."""
        with self.layer("depthwise_conv2d", name):
            weight = self.weight("kernel", kernel, kernel, self.width, 1)
            return self.op("DepthwiseConv2dNative", x, weight, strides=[1, stride, stride, 1])

    def norm(self, x: str, name: str = "bn") -> str:
        """Batch normalization."""
        with self.layer("batch_normalization", name):
            four = [self.weight(key, self.width) for key in ("gamma", "beta", "mean", "variance")]
            return self.op("FusedBatchNormV3", x, *four)

    def act(self, x: str, kind: str = "Relu", name: str = "act") -> str:
        """An activation."""
        with self.layer("activation", name):
            return self.op(kind, x)

    def dense(self, x: str, width: int, name: str = "dense") -> str:
        """A dense layer."""
        with self.layer("dense", name):
            x = self.op("MatMul", x, self.weight("kernel", self.width, width))
            if self.bias:
                x = self.op("BiasAdd", x, self.weight("bias", width))
        self.width = width
        return x

    def add(self, x: str, y: str, name: str = "add") -> str:
        """A sum of two ways."""
        with self.layer("add", name):
            return self.op("AddV2", x, y)

    def layer_norm(self, x: str, name: str = "ln") -> str:
        """Layer normalization in single ops."""
        with self.layer("layer_normalization", name):
            axis = self.constant(1, name="axis", dtype=3)
            mean = self.op("Mean", x, axis, name="mean")
            apart = self.op("Sub", x, mean)
            variance = self.op("Mean", self.op("Square", apart), axis, name="variance")
            if self.eps:
                variance = self.op("AddV2", variance, self.constant(name="epsilon"))
            scaled = self.op("Mul", apart, self.op("Rsqrt", variance))
            return self.op(
                "AddV2", self.op("Mul", scaled, self.weight("gamma", self.width)), self.weight("beta", self.width)
            )

    def attention(self, x: str, memory: str = "", mask: str = "", name: str = "attention") -> str:
        """Attention: scores of queries and keys, and the values that they weigh."""
        width = self.width
        with self.scope(name):
            query = self.heads(self.dense(x, width, "query"))
            key = self.heads(self.dense(memory or x, width, "key"))
            value = self.heads(self.dense(memory or x, width, "value"))
            scores = self.op("Mul", self.op("BatchMatMulV2", query, key), self.constant(name="scale"))
            if mask:
                scores = self.op("AddV2", scores, mask)
            mixed = self.op("BatchMatMulV2", self.op("Softmax", scores), value)
            joined = self.op(
                "Reshape",
                self.op("Transpose", mixed, self.constant(4, name="perm", dtype=3)),
                self.constant(3, name="shape", dtype=3),
            )
            return self.dense(joined, width, "output")

    def heads(self, x: str) -> str:
        """Split the last axis into heads."""
        x = self.op("Reshape", x, self.constant(4, name="shape", dtype=3))
        return self.op("Transpose", x, self.constant(4, name="perm", dtype=3))

    def feed_forward(self, x: str, gated: bool = False, name: str = "mlp") -> str:
        """Two dense layers with an activation between them, or a gated unit."""
        width = self.width
        with self.scope(name):
            wide = self.dense(x, 4 * width, "up")
            if gated:
                self.width = width
                gate = self.dense(x, 4 * width, "gate")
                wide = self.op("Mul", wide, self.op("Mul", gate, self.op("Sigmoid", gate)))
            elif self.eps:
                wide = self.op("Relu", wide)
            else:
                erf = self.op("Erf", self.op("Mul", wide, self.constant(name="root")))
                wide = self.op("Mul", wide, self.op("AddV2", erf, self.constant(name="one")))
            return self.dense(wide, width, "down")


def projected(w: Writer, x: str, width: int, stride: int, first: bool, before: int) -> str:
    """The shortcut of a block: what comes in, or a projection of it."""
    if not first or (before == width and stride == 1 and w.kept.get("plain")):
        return x
    kept, w.width = w.width, before
    x = w.norm(w.conv(x, width, 1, stride, "proj_conv"), "proj_bn")
    w.width = kept
    return x


def basic(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """The basic block of a residual network."""
    before, y = w.width, w.act(w.norm(w.conv(x, width, 3, stride, "conv1"), "bn1"), name="act1")
    y = w.norm(w.conv(y, width, 3, 1, "conv2"), "bn2")
    return w.act(w.add(projected(w, x, width, stride, first, before), y), name="out")


def bottleneck(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """The bottleneck block of a residual network."""
    before, y = w.width, w.act(w.norm(w.conv(x, width // 4, 1, stride, "conv1"), "bn1"), name="act1")
    y = w.act(w.norm(w.conv(y, width // 4, 3, 1, "conv2"), "bn2"), name="act2")
    y = w.norm(w.conv(y, width, 1, 1, "conv3"), "bn3")
    return w.act(w.add(y, projected(w, x, width, stride, first, before)), name="out")


def preactivated(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """Norm and activation come before each convolution."""
    before, y = w.width, w.act(w.norm(x, "bn1"), name="act1")
    short = projected(w, y if first else x, width, stride, first, before)
    w.width = before
    y = w.act(w.norm(w.conv(y, width, 3, stride, "conv1"), "bn2"), name="act2")
    return w.add(short, w.conv(y, width, 3, 1, "conv2"))


def inverted(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """An inverted bottleneck; the first of a stage has no shortcut."""
    before, y = w.width, w.act(w.norm(w.conv(x, 4 * w.width, 1, 1, "expand"), "bn1"), "Relu6", "act1")
    y = w.act(w.norm(w.depthwise(y, 3, stride), "bn2"), "Relu6", "act2")
    y = w.norm(w.conv(y, width, 1, 1, "project"), "bn3")
    return y if before != width or stride > 1 else w.add(x, y)


def squeezed(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A bottleneck with squeeze and excitation."""
    before, y = w.width, w.act(w.norm(w.conv(x, width, 1, stride, "conv1"), "bn1"), "Relu", "act1")
    y = w.norm(w.conv(y, width, 3, 1, "conv2"), "bn2")
    s = w.op("Mean", y, w.constant(2, name="axes", dtype=3), name="squeeze")
    s = w.act(w.conv(s, width // 4, 1, 1, "se_reduce"), "Relu", "se_act")
    s = w.act(w.conv(s, width, 1, 1, "se_expand"), "Sigmoid", "se_gate")
    y = w.op("Mul", y, s, name="excite")
    return w.act(w.add(projected(w, x, width, stride, first, before), y), name="out")


def convnext(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A ConvNeXt block; a stage begins with a norm and a convolution of its own."""
    if first and w.width != width:
        with w.scope("downsample"):
            x = w.conv(w.layer_norm(x), width, 2, stride)
    y = w.feed_forward(w.layer_norm(w.depthwise(x, 7)))
    return w.add(x, w.op("Mul", y, w.weight("scale", width), name="layer_scale"))


def pre_norm(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A transformer layer with norms first."""
    x = w.add(x, w.attention(w.layer_norm(x, "ln1"), mask=w.kept.get("mask", "")), "add1")
    return w.add(x, w.feed_forward(w.layer_norm(x, "ln2"), bool(w.kept.get("gated"))), "add2")


def post_norm(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A transformer layer with norms behind the sums."""
    x = w.layer_norm(w.add(x, w.attention(x, mask=w.kept.get("mask", "")), "add1"), "ln1")
    return w.layer_norm(w.add(x, w.feed_forward(x), "add2"), "ln2")


def biased(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A transformer layer; the first makes the position bias of all."""
    if "bias" not in w.kept:
        place = w.op(
            "Range",
            w.constant(name="start", dtype=3),
            w.constant(name="limit", dtype=3),
            w.constant(name="delta", dtype=3),
        )
        far = w.op("Sub", w.op("ExpandDims", place, w.constant(name="dim", dtype=3)), place)
        table = w.weight("relative_bias", 32, 8)
        made = w.op(
            "GatherV2", table, w.op("Minimum", far, w.constant(name="most", dtype=3)), w.constant(name="axis", dtype=3)
        )
        w.kept["bias"] = w.op("Transpose", made, w.constant(3, name="perm", dtype=3))
    x = w.add(x, w.attention(w.layer_norm(x, "ln1"), mask=w.kept["bias"]), "add1")
    return w.add(x, w.feed_forward(w.layer_norm(x, "ln2")), "add2")


def crossed(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A decoder layer: attention to itself and to what the encoder gives."""
    x = w.add(x, w.attention(w.layer_norm(x, "ln1"), mask=w.kept.get("mask", "")), "add1")
    x = w.add(x, w.attention(w.layer_norm(x, "ln2"), w.kept["memory"], name="cross"), "add2")
    return w.add(x, w.feed_forward(w.layer_norm(x, "ln3")), "add3")


def plain(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """Convolution, norm, activation."""
    return w.act(w.norm(w.conv(x, width)))


def dense_block(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A layer of a densely connected network."""
    before = w.width
    y = w.conv(w.act(w.norm(x, "bn1"), name="act1"), 64, 1, 1, "conv1")
    y = w.conv(w.act(w.norm(y, "bn2"), name="act2"), 32, 3, 1, "conv2")
    w.width = before + 32
    return w.op("ConcatV2", x, y, w.constant(name="axis", dtype=3), name="concat")


def mobile(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """An inverted bottleneck with squeeze and excitation, of one kernel in each stage."""
    before, kernel = w.width, 3 + 2 * (width // 32 % 2)
    wide = before * int(w.kept.setdefault("expand", w.chance.choice("46")))
    y = w.act(w.norm(w.conv(x, wide, 1, 1, "expand"), "bn1"), "Relu6", "act1")
    y = w.act(w.norm(w.depthwise(y, kernel, stride), "bn2"), "Relu6", "act2")
    s = w.op("Mean", y, w.constant(2, name="axes", dtype=3), name="squeeze")
    s = w.act(w.conv(s, before // 4, 1, 1, "se_reduce"), "Relu", "se_act")
    s = w.act(w.conv(s, wide, 1, 1, "se_expand"), "Sigmoid", "se_gate")
    y = w.norm(w.conv(w.op("Mul", y, s, name="excite"), width, 1, 1, "project"), "bn3")
    return y if before != width or stride > 1 else w.add(x, y)


def shifted(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A transformer layer in windows; every second one shifts them."""
    odd = w.kept["odd"] = "" if first or w.kept.get("odd") else "yes"
    y = w.layer_norm(x, "ln1")
    if odd:
        y = w.op("Roll", y, w.constant(2, name="by", dtype=3), w.constant(2, name="axes", dtype=3), name="shift")
    y = w.op("Reshape", y, w.constant(4, name="windows", dtype=3), name="part")
    y = w.op("Reshape", w.attention(y), w.constant(3, name="whole", dtype=3), name="join")
    if odd:
        y = w.op("Roll", y, w.constant(2, name="back", dtype=3), w.constant(2, name="axes", dtype=3), name="unshift")
    x = w.add(x, y, "add1")
    return w.add(x, w.feed_forward(w.layer_norm(x, "ln2")), "add2")


def two_streams(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A layer of two streams that attend to each other; the last leaves the second as it is."""
    y = w.kept.pop("second", "") or w.op("Mul", x, w.constant(name="half"), name="second")
    a, b = w.layer_norm(x, "ln_a"), w.layer_norm(y, "ln_b")
    x = w.add(x, w.attention(a, b, name="from_b"), "add_a")
    x = w.add(x, w.feed_forward(w.layer_norm(x, "ln_a2"), name="mlp_a"), "add_a2")
    if w.kept.get("last"):
        return x
    y = w.add(y, w.attention(b, a, name="from_a"), "add_b")
    w.kept["second"] = w.add(y, w.feed_forward(w.layer_norm(y, "ln_b2"), name="mlp_b"), "add_b2")
    return x


def gated(w: Writer, x: str, width: int, stride: int, first: bool) -> str:
    """A gated mixture of positions; the first also makes positions."""
    if first:
        x = w.op("AddV2", x, w.weight("positions", 512, w.width), name="with_positions")
    y = w.layer_norm(x)
    width = w.width
    up = w.dense(y, 2 * width, "up")
    w.width = width
    gate = w.op("Sigmoid", w.dense(y, 2 * width, "gate"))
    return w.add(x, w.dense(w.op("Mul", up, gate, name="gated"), width, "down"))


CONVOLUTIONAL: dict[str, Block] = {
    "basic": basic, "bottleneck": bottleneck, "preactivated": preactivated, "inverted": inverted,
    "squeezed": squeezed, "convnext": convnext, "plain": plain, "dense_block": dense_block,
    "mobile": mobile,
}  # fmt: skip
SEQUENTIAL: dict[str, Block] = {
    "pre_norm": pre_norm, "post_norm": post_norm, "biased": biased,
    "two_streams": two_streams, "gated": gated, "shifted": shifted,
}  # fmt: skip
KINDS = (
    *CONVOLUTIONAL,
    *SEQUENTIAL,
    "encoder_decoder",
    "merging",
    "same_width",
    "short",
    "unscoped",
    "unet",
    "tied",
    "windows",
)


def network(seed: int, form: str, kind: str = "") -> tuple[GraphDef, list[int]]:
    """The graph of a seed in a form, and the counts of its stages."""
    chance = random.Random(f"{seed} {kind}")
    kind = kind or chance.choice(KINDS)
    w = Writer(form, chance)
    w.scopes = [chance.choice(("net", "model", "backbone", ""))]
    if kind in SEQUENTIAL:
        counts = sequential(w, chance, SEQUENTIAL[kind])
    elif kind == "encoder_decoder":
        counts = encoder_decoder(w, chance)
    elif kind == "merging":
        counts = merging(w, chance)
    elif kind == "windows":
        counts = merging(w, chance, shifted)
    elif kind == "unet":
        counts = unet(w, chance)
    elif kind == "tied":
        counts = sequential(w, chance, chance.choice((pre_norm, post_norm, gated)), tied=True)
    elif kind == "short":
        block = chance.choice((basic, bottleneck, preactivated, inverted, mobile))
        counts = convolutional(w, chance, block, most=3)
    elif kind == "unscoped":
        counts = convolutional(w, chance, chance.choice((basic, bottleneck, inverted, mobile)), scoped=False)
    elif kind == "same_width":
        counts = convolutional(w, chance, chance.choice((basic, bottleneck, preactivated)), same=True)
    else:
        counts = convolutional(w, chance, CONVOLUTIONAL[kind])
    return formed(w.graph, form, chance), counts


def convolutional(
    w: Writer, chance: random.Random, block: Block, same: bool = False, most: int = 7, scoped: bool = True
) -> list[int]:
    """A stem, stages of a block, a head; the blocks are numbered in their stage or, not `scoped`, through them all."""
    counts = [chance.randint(1 if most == 3 else 2, most) for _ in range(chance.randint(3, 4))]
    if same:
        counts = [counts[0]] * len(counts)
    stage, unit = chance.choice((("stage", "block"), ("layer", "unit"), ("res", "b"), ("group", "cell")))
    w.width = 3
    w.kept["plain"] = chance.choice(("", "yes"))
    x = w.op("Placeholder", name="image")
    width = chance.choice((32, 48, 64))
    with w.scope("stem"):
        x = w.act(w.norm(w.conv(x, width, 7, 2)))
        if chance.random() < 0.5 and block is not preactivated:
            x = w.op("MaxPool", x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], name="pool")
    for number, count in enumerate(counts, 1):
        with w.scope(f"{stage}{number}" if scoped else ""):
            if block in (plain, dense_block) and number > 1:
                if block is dense_block:
                    x = w.conv(w.act(w.norm(x, "tbn"), name="tact"), w.width // 2, 1, 1, "transition")
                x = w.op("MaxPool", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], name="pool")
            for place in range(count):
                with w.scope(f"{unit}{place + 1 + (0 if scoped else sum(counts[: number - 1]))}"):
                    x = block(w, x, width, 2 if place == 0 and number > 1 else 1, place == 0)
        width *= 2
    if block in (preactivated, dense_block):
        x = w.act(w.norm(x, "last_bn"), name="last_act")
    x = w.op("Mean", x, w.constant(2, name="axes", dtype=3), name="pooled")
    w.op("Softmax", w.dense(x, 1000, "logits"), name="predictions")
    return counts


def embedded(w: Writer, chance: random.Random, name: str) -> str:
    """Tokens as vectors, and a mask."""
    w.width = 64 * chance.randint(1, 6)
    ids = w.op("Placeholder", name=f"{name}_ids")
    with w.scope(f"{name}_embeddings"):
        w.kept["table"] = w.weight("table", 30522, w.width)
        x = w.op(
            "ResourceGather" if w.style == "resource" else "GatherV2",
            w.kept["table"],
            ids,
            w.constant(name="axis", dtype=3),
        )
        x = w.op("AddV2", x, w.weight("positions", 512, w.width), name="with_positions")
        x = w.layer_norm(x)
    w.kept.pop("mask", None)
    if chance.random() < 0.6:
        with w.scope(f"{name}_mask"):
            m = w.op("Cast", w.op("Placeholder", name=f"{name}_mask"))
            m = w.op("Sub", w.constant(name="one"), w.op("ExpandDims", m, w.constant(name="dim", dtype=3)))
            w.kept["mask"] = w.op("Mul", m, w.constant(name="large"))
    return x


def sequential(w: Writer, chance: random.Random, block: Block, tied: bool = False) -> list[int]:
    """An embedding, layers, a head; a `tied` one is in the scope of the embedding."""
    count = chance.randint(3, 14)
    w.kept["gated"] = chance.choice(("", "yes"))
    x = embedded(w, chance, "token")
    name = chance.choice(("layer_", "block_", "h", "encoder_layer_"))
    with w.scope("encoder"):
        for place in range(count):
            with w.scope(f"{name}{place}"):
                w.kept["last"] = "yes" if place == count - 1 else ""
                x = block(w, x, w.width, 1, place == 0)
    if block is not post_norm:
        x = w.layer_norm(x, "final_ln")
    if tied:
        with w.scope("token_embeddings"):
            x = w.op("MatMul", x, w.kept["table"], name="logits")
    else:
        x = w.dense(x, 1000, "head")
    w.op("Softmax", x, name="probabilities")
    return [count]


def encoder_decoder(w: Writer, chance: random.Random) -> list[int]:
    """An encoder, and a decoder each layer of which takes its result."""
    counts = [chance.randint(2, 8), chance.randint(2, 8)]
    x = embedded(w, chance, "source")
    width = w.width
    block = chance.choice((pre_norm, post_norm))
    with w.scope("encoder"):
        for place in range(counts[0]):
            with w.scope(f"layer_{place}"):
                x = block(w, x, width, 1, place == 0)
    w.kept["memory"] = w.layer_norm(x, "encoder_norm")
    y = embedded(w, chance, "target")
    w.width = width
    with w.scope("decoder"):
        for place in range(counts[1]):
            with w.scope(f"layer_{place}"):
                y = crossed(w, y, width, 1, place == 0)
    w.op("Softmax", w.dense(w.layer_norm(y, "decoder_norm"), 1000, "logits"), name="probabilities")
    return counts


def unet(w: Writer, chance: random.Random) -> list[int]:
    """Levels down and up, joined by what goes across."""
    count = chance.randint(3, 5)
    w.width = 3
    x = w.op("Placeholder", name="image")
    across: list[str] = []
    for level in range(count):
        with w.scope(f"down{level}"):
            x = w.act(w.norm(w.conv(x, 32 << level, name="conv1"), "bn1"), name="act1")
            x = w.act(w.norm(w.conv(x, 32 << level, name="conv2"), "bn2"), name="act2")
            across.append(x)
            x = w.op("MaxPool", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], name="pool")
    with w.scope("bottom"):
        x = w.act(w.norm(w.conv(x, 32 << count, name="conv1"), "bn1"), name="act1")
        x = w.act(w.norm(w.conv(x, 32 << count, name="conv2"), "bn2"), name="act2")
    for level in reversed(range(count)):
        with w.scope(f"up{level}"):
            x = w.op("ResizeNearestNeighbor", x, w.constant(2, name="size", dtype=3), name="up")
            x = w.conv(x, 32 << level, 2, name="up_conv")
            x = w.op("ConcatV2", across[level], x, w.constant(name="axis", dtype=3), name="concat")
            w.width = 64 << level
            x = w.act(w.norm(w.conv(x, 32 << level, name="conv1"), "bn1"), name="act1")
            x = w.act(w.norm(w.conv(x, 32 << level, name="conv2"), "bn2"), name="act2")
    w.conv(x, 3, 1, name="classes")
    return [count, count]


def merging(w: Writer, chance: random.Random, block: Block = pre_norm) -> list[int]:
    """Stages of transformer layers, patches merged between them; `shifted` layers are in pairs."""
    counts = [chance.randint(2, 6) for _ in range(chance.randint(3, 4))]
    if block is shifted:
        counts = [2, 2 * chance.randint(2, 4), 2, 2][: len(counts)]
    w.width = 3
    x = w.op(
        "Reshape", w.conv(w.op("Placeholder", name="image"), 96, 4, 4, "patches"), w.constant(3, name="shape", dtype=3)
    )
    x = w.layer_norm(x, "patch_norm")
    for number, count in enumerate(counts):
        with w.scope(f"stage{number}"):
            for place in range(count):
                with w.scope(f"block{place}"):
                    x = block(w, x, w.width, 1, place == 0)
            if number + 1 < len(counts):
                with w.scope("merge"):
                    x = w.op("Reshape", x, w.constant(6, name="shape", dtype=3))
                    x = w.layer_norm(w.op("Transpose", x, w.constant(6, name="perm", dtype=3)))
                    width = 2 * w.width
                    w.width *= 4
                    x = w.dense(x, width, "reduction")
    x = w.op("Mean", w.layer_norm(x, "last_norm"), w.constant(1, name="axes", dtype=3), name="pooled")
    w.dense(x, 1000, "head")
    return counts


def formed(graph: GraphDef, form: str, chance: random.Random) -> GraphDef:
    """The graph with the names of a form."""
    if form in ("scopes", "counted"):
        return graph
    names = [node.name for node in graph.node]
    if form == "flat":
        other = {name: name.replace("/", "_") for name in names}
    else:
        numbers = list(range(len(names)))
        chance.shuffle(numbers)
        other = {name: f"op_{number}" for name, number in zip(names, numbers, strict=True)}
    nodes = list(graph.node)
    if form == "shuffled":
        chance.shuffle(nodes)
    made = GraphDef()
    for node in nodes:
        copy = made.node.add()
        copy.CopyFrom(node)
        copy.name = other[node.name]
        copy.ClearField("input")
        copy.input.extend(other[source] for source in node.input)
    return made
