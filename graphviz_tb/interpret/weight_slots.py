"""Which inputs of which ops are weights, and what the op calls them.

Data only: op type ─▶ {input slot: role}. A constant that arrives at such an input is a weight, however many identities,
casts and dequantisations lie between; a variable is one anywhere, and the role only says what to call it.
"""

from __future__ import annotations

from collections.abc import Mapping

KERNEL = {1: "kernel"}
EITHER = {0: "kernel", 1: "kernel"}
TABLE = {0: "embeddings"}
SCALED = {1: "scale", 2: "offset", 3: "mean", 4: "variance"}

CONVOLUTIONS = (
    *("Conv", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Dilation2D", "_FusedConv2D", "_FusedDepthwiseConv2dNative"),
    *("Conv2DBackpropInput", "Conv3DBackpropInputV2", "QuantizedConv2D", "QuantizedDepthwiseConv2D"),
)
PRODUCTS = (
    *("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseMatMul", "_FusedMatMul", "QuantizedMatMul"),
    *("SparseTensorDenseMatMul", "XlaDot", "XlaDotV2"),
)
NORMALISATIONS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx")
LOOKUPS = ("Gather", "GatherV2", "ResourceGather", "EmbeddingLookupSparse")

WEIGHT_SLOTS: Mapping[str, Mapping[int, str]] = {
    **dict.fromkeys(CONVOLUTIONS, KERNEL),
    **dict.fromkeys(PRODUCTS, EITHER),
    **dict.fromkeys(NORMALISATIONS, SCALED),
    **dict.fromkeys(LOOKUPS, TABLE),
    "_FusedConv2D": {1: "kernel", 2: "bias"},
    "_FusedDepthwiseConv2dNative": {1: "kernel", 2: "bias"},
    "_FusedMatMul": {0: "kernel", 1: "kernel", 2: "bias"},
    "Conv2DBackpropInput": {1: "kernel"},  # a transposed convolution: input 0 is a size, 2 what flows
    "Einsum": {1: "kernel"},
    "BiasAdd": {1: "bias"},
    "BiasAddV1": {1: "bias"},
    "BatchNormWithGlobalNormalization": {1: "mean", 2: "variance", 3: "offset", 4: "scale"},
    "CudnnRNN": {3: "kernel"},
    "CudnnRNNV3": {3: "kernel"},
    "LSTMBlockCell": {3: "kernel", 7: "bias"},
    "BlockLSTM": {4: "kernel", 8: "bias"},
    "GRUBlockCell": {2: "kernel", 3: "candidate kernel", 4: "bias", 5: "candidate bias"},
}
