"""Random small graphs of each op: what is inferred is never other than TensorFlow's own, and no less than it.

Needs TensorFlow (`pip install tensorflow`); the graphs of `test_tensorflow.py` have stored what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphviz_tb import load

tf = pytest.importorskip("tensorflow", reason="needs TensorFlow: each op is compared with TensorFlow's own inference")
v1 = tf.compat.v1

Draw = Callable[[Any], Any]
Build = Callable[[Draw], Any]
SIZE = st.integers(1, 6)
OPS: dict[str, Build] = {}


def op(build: Build) -> Build:
    """A member of the table, under the name of its function."""
    OPS[build.__name__] = build
    return build


def tensor(draw: Draw, *sizes: int, dtype: Any = tf.float32, known: bool = False) -> Any:
    """A placeholder with these sizes, some of them or the rank unknown; as a constant where its value matters."""
    if known or draw(st.booleans()):
        return v1.placeholder(dtype, sizes)
    if draw(st.integers(0, 5)) == 0:
        return v1.placeholder(dtype)
    return v1.placeholder(dtype, [size if draw(st.booleans()) else None for size in sizes])


def shape(draw: Draw, least: int = 0, most: int = 4) -> list[int]:
    return list(draw(st.lists(SIZE, min_size=least, max_size=most)))


@op
def elementwise(draw: Draw) -> Any:
    one = shape(draw)
    other = [size if draw(st.booleans()) else 1 for size in one][draw(st.integers(0, len(one))) :]
    which = draw(st.sampled_from([tf.add, tf.multiply, tf.maximum, tf.math.squared_difference, tf.less]))
    return which(tensor(draw, *one), tensor(draw, *other))


@op
def unary(draw: Draw) -> Any:
    which = draw(st.sampled_from([tf.nn.relu, tf.exp, tf.nn.softplus, tf.sign, tf.zeros_like, tf.identity]))
    return which(tensor(draw, *shape(draw)))


@op
def product(draw: Draw) -> Any:
    m, k, n = (draw(SIZE) for _ in range(3))
    left, right = draw(st.booleans()), draw(st.booleans())
    one = tensor(draw, *((k, m) if left else (m, k)))
    other = tensor(draw, *((n, k) if right else (k, n)))
    return tf.raw_ops.MatMul(a=one, b=other, transpose_a=left, transpose_b=right)


@op
def batch_product(draw: Draw) -> Any:
    batch, (m, k, n) = shape(draw, 0, 2), (draw(SIZE) for _ in range(3))
    other = [size if draw(st.booleans()) else 1 for size in batch]
    return tf.raw_ops.BatchMatMulV2(x=tensor(draw, *batch, m, k), y=tensor(draw, *other, k, n))


@op
def convolution(draw: Draw) -> Any:
    height, width, inner, outer = (draw(st.integers(5, 12)) for _ in range(4))
    kernel = [draw(st.integers(1, 3)), draw(st.integers(1, 3))]
    strides, dilations = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    if dilations > 1:
        strides = 1
    padding = draw(st.sampled_from(["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]]))
    image = tensor(draw, draw(SIZE), height, width, inner)
    return tf.nn.conv2d(image, tensor(draw, *kernel, inner, outer, known=True), strides, padding, dilations=dilations)


@op
def depthwise(draw: Draw) -> Any:
    size, inner = draw(st.integers(4, 9)), draw(SIZE)
    kernel = tensor(draw, 3, 2, inner, draw(SIZE), known=True)
    stride = draw(st.integers(1, 2))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    return tf.nn.depthwise_conv2d(
        tensor(draw, 2, size, size, inner, known=True), kernel, [1, stride, stride, 1], padding
    )


@op
def pooling(draw: Draw) -> Any:
    which = draw(st.sampled_from([tf.nn.max_pool2d, tf.nn.avg_pool2d]))
    image = tensor(draw, draw(SIZE), draw(st.integers(4, 9)), draw(st.integers(4, 9)), draw(SIZE))
    return which(image, draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.sampled_from(["SAME", "VALID"])))


@op
def reshape(draw: Draw) -> Any:
    sizes = shape(draw, 1, 4)
    moved = list(draw(st.permutations(sizes)))
    if draw(st.booleans()):
        moved[draw(st.integers(0, len(moved) - 1))] = -1
    return tf.reshape(tensor(draw, *sizes), moved)


@op
def reshape_by_its_own_shape(draw: Draw) -> Any:
    first, second, third = (draw(SIZE) for _ in range(3))
    x = tensor(draw, first, second, third)
    rows = tf.shape(x)[0]
    return tf.reshape(x, tf.stack([rows, draw(st.sampled_from([-1, second * third]))]))


@op
def transpose(draw: Draw) -> Any:
    sizes = shape(draw, 1, 4)
    return tf.transpose(tensor(draw, *sizes), list(draw(st.permutations(range(len(sizes))))))


@op
def concatenation(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    axis = draw(st.integers(-len(sizes), len(sizes) - 1))
    parts = []
    for _ in range(draw(st.integers(2, 3))):
        own = list(sizes)
        own[axis] = draw(SIZE)
        parts.append(tensor(draw, *own))
    return tf.concat(parts, axis)


@op
def stack(draw: Draw) -> Any:
    sizes = shape(draw, 0, 3)
    axis = draw(st.integers(-len(sizes) - 1, len(sizes)))
    return tf.stack([tensor(draw, *sizes) for _ in range(draw(st.integers(1, 3)))], axis)


@op
def unstack(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    axis = draw(st.integers(-len(sizes), len(sizes) - 1))
    return tf.unstack(tensor(draw, *sizes), sizes[axis], axis)[0]


@op
def split(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    axis = draw(st.integers(0, len(sizes) - 1))
    parts = draw(st.integers(1, 3))
    sizes[axis] *= parts
    return tf.split(tensor(draw, *sizes), parts, axis)[-1]


@op
def strided_slice(draw: Draw) -> Any:
    sizes = shape(draw, 1, 4)
    end = st.one_of(st.none(), st.integers(-7, 7))
    keys: list[Any] = []
    for _ in sizes[: draw(st.integers(0, len(sizes)))]:
        kind = draw(st.integers(0, 3))
        if kind == 0:
            keys.append(0)
        elif kind == 1:
            keys.append(tf.newaxis)
        else:
            keys.append(slice(draw(end), draw(end), draw(st.sampled_from([None, 1, 2, -1, -2]))))
    if draw(st.booleans()):
        keys.insert(draw(st.integers(0, len(keys))), Ellipsis)
    return tensor(draw, *sizes)[tuple(keys)]


@op
def slice_of(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    begin = [draw(st.integers(0, size - 1)) for size in sizes]
    length = [draw(st.sampled_from([-1, size - start])) for size, start in zip(sizes, begin, strict=True)]
    return tf.slice(tensor(draw, *sizes), begin, length)


@op
def gather(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    axis = draw(st.integers(0, len(sizes) - 1))
    return tf.gather(tensor(draw, *sizes), tensor(draw, *shape(draw, 0, 2), dtype=tf.int32), axis=axis)


@op
def pad(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    return tf.pad(tensor(draw, *sizes), [[draw(st.integers(0, 3)), draw(st.integers(0, 3))] for _ in sizes])


@op
def tile(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    return tf.tile(tensor(draw, *sizes), [draw(st.integers(1, 3)) for _ in sizes])


@op
def squeeze(draw: Draw) -> Any:
    sizes = [1 if draw(st.booleans()) else draw(SIZE) for _ in range(draw(st.integers(1, 4)))]
    ones = [axis for axis, size in enumerate(sizes) if size == 1]
    return tf.squeeze(tensor(draw, *sizes), ones if draw(st.booleans()) else None)


@op
def expand(draw: Draw) -> Any:
    sizes = shape(draw, 0, 3)
    return tf.expand_dims(tensor(draw, *sizes), draw(st.integers(-len(sizes) - 1, len(sizes))))


@op
def reduction(draw: Draw) -> Any:
    sizes = shape(draw, 1, 4)
    which = draw(st.sampled_from([tf.reduce_sum, tf.reduce_mean, tf.reduce_max]))
    axes = draw(st.one_of(st.none(), st.lists(st.integers(0, len(sizes) - 1), unique=True)))
    return which(tensor(draw, *sizes), axes, keepdims=draw(st.booleans()))


@op
def arg_max(draw: Draw) -> Any:
    sizes = shape(draw, 1, 4)
    return tf.argmax(tensor(draw, *sizes), draw(st.integers(-len(sizes), len(sizes) - 1)))


@op
def one_hot(draw: Draw) -> Any:
    sizes = shape(draw, 0, 3)
    axis = draw(st.integers(-1, len(sizes)))
    return tf.one_hot(tensor(draw, *sizes, dtype=tf.int32), draw(SIZE), axis=axis)


@op
def counted_range(draw: Draw) -> Any:
    first, last, step = draw(st.integers(-5, 5)), draw(st.integers(6, 20)), draw(st.integers(1, 4))
    return tf.raw_ops.Range(start=first, limit=last, delta=step)


@op
def fill_like(draw: Draw) -> Any:
    x = tensor(draw, *shape(draw, 1, 3))
    return tf.fill(tf.shape(x), 0.0)


@op
def broadcast(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    return tf.broadcast_to(tensor(draw, *[1 if draw(st.booleans()) else size for size in sizes]), sizes)


@op
def where(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    condition = tensor(draw, *[size if draw(st.booleans()) else 1 for size in sizes], dtype=tf.bool)
    return tf.raw_ops.SelectV2(condition=condition, t=tensor(draw, *sizes), e=tensor(draw, *sizes))


@op
def einsum(draw: Draw) -> Any:
    b, q, k, h, d = (draw(SIZE) for _ in range(5))
    return tf.einsum("bqhd,bkhd->bhqk", tensor(draw, b, q, h, d, known=True), tensor(draw, b, k, h, d, known=True))


@op
def top(draw: Draw) -> Any:
    sizes = shape(draw, 1, 3)
    return tf.math.top_k(tensor(draw, *sizes), draw(st.integers(1, sizes[-1])))[1]


@op
def resize(draw: Draw) -> Any:
    image = tensor(draw, draw(SIZE), draw(SIZE), draw(SIZE), draw(SIZE))
    return v1.image.resize_bilinear(image, [draw(SIZE), draw(SIZE)])


@op
def normalisation(draw: Draw) -> Any:
    channels = draw(SIZE)
    one = tensor(draw, channels, known=True)
    image = tensor(draw, draw(SIZE), draw(SIZE), draw(SIZE), channels)
    return tf.raw_ops.FusedBatchNormV3(x=image, scale=one, offset=one, mean=one, variance=one, is_training=False)[0]


@op
def depth_and_space(draw: Draw) -> Any:
    block = draw(st.integers(2, 3))
    if draw(st.booleans()):
        return tf.nn.space_to_depth(tensor(draw, 2, block * draw(SIZE), block * draw(SIZE), draw(SIZE)), block)
    return tf.nn.depth_to_space(tensor(draw, 2, draw(SIZE), draw(SIZE), block * block * draw(SIZE)), block)


@pytest.mark.parametrize("name", OPS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_each_op_is_inferred_as_tensorflow_does(name: str, data: Any) -> None:
    with tf.Graph().as_default() as graph:
        try:
            OPS[name](data.draw)
        except (ValueError, TypeError):  # sizes that the op refuses
            return
    ours = load(graph.as_graph_def()).shapes()
    with tf.Graph().as_default() as again:  # as a file would be read: without what Python knew
        tf.import_graph_def(graph.as_graph_def(), name="")
    for each in again.get_operations():
        for at, output in enumerate(each.outputs):
            theirs = output.shape
            found = ours.get((each.name, at))
            where = f"{each.type} gives {theirs}, inferred {found}"
            if theirs.rank is None:
                continue  # more may be known here: values are followed further
            assert found is not None, where
            assert len(found) == theirs.rank, where
            for mine, size in zip(found, theirs.as_list(), strict=True):
                assert size is None or mine == size, where
