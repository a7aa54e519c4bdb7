"""Elementwise ops: https://www.tensorflow.org/api_docs/python/tf/raw_ops, "supports broadcasting" or of one operand."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import agreed
from graphviz_tb.annotate.infer.values import Dims
from graphviz_tb.model.dtypes import SIZES


def shape_of_broadcast(op: Op) -> RuleResult:
    """`BroadcastArgs`: a shape as long as the longer one."""
    mine, other = op.shape(0), op.shape(1)
    if mine is None or other is None or not mine or not other:
        return [(op.symbols.fresh(),)]
    return [(op.symbols.calc("max", mine[0], other[0]),)]


def checked(op: Op) -> RuleResult:
    """`EnsureShape`: the input, which is of the stated shape."""
    # The input first: a size that the op leaves open is that of the input, known or not.
    return [agreed([op.shape(0), op.attr("shape")])]


def bitcast(op: Op) -> RuleResult:
    """`Bitcast`: the last dimension holds the parts of one element where sizes differ."""
    shape, old, new = op.shape(0), SIZES.get(op.attr("T") or "", 0), SIZES.get(op.attr("type") or "", 0)
    if shape is None or not old or not new:
        return [None]
    # float64 as float32 gets a last dimension of 2; the other way, the last dimension of 2 goes.
    if old > new:
        return [(*shape, old // new)]
    return [shape[:-1] if new > old else shape]


def accumulate(op: Op) -> RuleResult:
    """`AccumulateNV2`: the stated shape, or that of the inputs."""
    shape: Dims = agreed([*(each.shape for each in op.ins), op.attr("shape")])
    return [shape]


UNARY = """
    Abs Acos Acosh AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation Angle Asin Asinh Atan Atanh
    BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1
    Bucketize Cast Ceil CheckNumerics CheckNumericsV2 ComplexAbs Conj Cos Cosh DebugNumericSummary DecodeBase64
    Dawsn Digamma Elu EncodeBase64 Erf Erfc Erfinv Exp Expm1 Expint Floor
    FresnelCos FresnelSin Imag Inv Invert IsFinite IsInf IsNan L2Normalize LRN LeakyRelu Lgamma Log Log1p LogicalNot
    Ndtri Neg OnesLike PopulationCount PreventGradient Real Reciprocal RegexFullMatch RegexReplace Relu Relu6 Rint
    Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Spence Sqrt Square StaticRegexFullMatch
    StaticRegexReplace StringLength StringLower StringStrip StringToHashBucket StringToHashBucketFast
    StringToHashBucketStrong StringToNumber StringUpper Tan Tanh AsString UnicodeScript
    UnicodeTranscode ZerosLike Cumsum Cumprod CumulativeLogsumexp InvertPermutation Reverse ReverseV2
    ReverseSequence RandomShuffle ClipByValue FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3
    Softmax LogSoftmax BiasAdd BiasAddV1 MatrixBandPart MatrixInverse Cholesky CholeskyGrad MatrixExponential
    MatrixLogarithm MatrixSquareRoot FFT FFT2D FFT3D IFFT IFFT2D IFFT3D BatchFFT BatchIFFT Roll DeepCopy
    TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin TensorStridedSliceUpdate
    Copy CopyHost Snapshot InplaceAdd InplaceUpdate InplaceSub BatchMatrixBandPart HSVToRGB RGBToHSV
    CollectiveReduce CollectiveReduceV2 CollectiveReduceV3 NcclAllReduce XlaSharding _FusedBatchNormEx
"""
BINARY = """
    Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual
    Igamma IgammaGradA Igammac LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan
    NextAfter NotEqual Polygamma Pow RealDiv RightShift SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py
    Xlogy Zeta ApproximateEqual Substr RandomGammaGrad
"""
GRADIENTS = """
    InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad
    SoftplusGrad SoftsignGrad
"""

RULES: dict[str, Rule] = {
    "AccumulateNV2": accumulate,
    "BroadcastArgs": shape_of_broadcast,
    "EnsureShape": checked,
    "Bitcast": bitcast,
}
