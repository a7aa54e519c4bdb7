"""Names that nobody gave: Keras and TensorFlow call layers and ops after their types."""

from __future__ import annotations

import re

from graphviz_tb.group.flow.words import Vocabulary, shared

DIGITS = re.compile(r"[0-9_]+")
# The words of names given by Keras and TensorFlow, without digits: `re_lu_5_1_Relu`, `max_pooling2d_3`, `AddV2_1`.
TYPES = """
add addn addv addition sub subtract mul multiply div truediv realdiv mod pow sqrt rsqrt square neg maximum minimum
average sum mean max min reduce op getitem identity cast lambda function functional sequential model
concat concatv concatenate stack unstack pack unpack split slice strided stridedslice gather transpose permute
reshape flatten repeat vector squeeze expand dims expanddims tile pad padding padv zero zeropadding zeropaddingd
cropping croppingd up sampling upsampling samplingd upsamplingd resize
re lu relu elu selu gelu leaky leakyrelu prelu p celu sigmoid tanh softmax softplus swish silu mish hard erf activation
dropout spatial dropoutd spatialdropoutd gaussian noise masking
biasadd bias matmul batchmatmul batchmatmulv einsum dot dense conv convd depthwise depthwiseconvd separable
separableconvd convdtranspose convolution multi head attention multiheadattention additive
layer batch group instance unit normalization batchnorm layernorm batchnormalization layernormalization fusedbatchnormv
pooling poolingd poold pool maxpool avgpool maxpoold avgpoold global maxpoolingd averagepoolingd
embedding lookup lstm gru rnn cell simple bidirectional time distributed
"""
GIVEN = frozenset(["", *TYPES.split()])
KINDS = frozenset(["layer", "batch", "group", "unit", "multi", "head"])  # no name of Keras ends in one: `layer_3`


def given(name: str, type_name: str, vocabulary: Vocabulary) -> bool:
    """Return whether a name says no more than the type of its node.

    Words with which nearly all names of the level begin do not count.

    >>> level = Vocabulary(["net_conv2d_1", "net_re_lu_1", "net_mixed3", "net_Log_7"])
    >>> given("net_re_lu_1", "Relu", level), given("net_mixed3", "ConcatV2", level), given("net_Log_7", "Log", level)
    (True, False, True)
    >>> given("net_layer_3", "", level), given("net_layer_normalization_3", "", level)
    (False, True)
    """
    # Names that are split alike say the same: of thousands of `mul_12` one is looked at.
    key = vocabulary.pattern(name), type_name
    known = vocabulary.given.get(key)
    if known is None:
        words = vocabulary.words(name)
        said = [bare for word in words[shared(words, vocabulary.model) :] if (bare := DIGITS.sub("", word).lower())]
        kind = DIGITS.sub("", type_name).lower()
        typed = all(word in GIVEN or word == kind for word in said)
        known = vocabulary.given[key] = typed and not (said and said[-1] in KINDS)
    return known
