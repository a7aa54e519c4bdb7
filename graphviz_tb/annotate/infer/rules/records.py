"""Strings, parsed records, summaries and datasets."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import as_input, scalar, scalars
from graphviz_tb.annotate.infer.values import Dims, Out


def joined(op: Op) -> RuleResult:
    """`StringJoin`: scalars are repeated for those that are none."""
    shapes = [each.shape for each in op.ins]
    larger = [shape for shape in shapes if shape != ()]
    return [larger[0] if larger else ()]


def parsed(op: Op) -> RuleResult:
    """`ParseExampleV2`: sparse, dense and ragged features of a batch of records (or of one)."""
    batch: Dims = op.shape(0)
    if op.definition.op == "ParseSingleExample":
        batch = ()
    # The first version counts in another attribute.
    sparse = op.count("Nsparse" if op.definition.op == "ParseExample" else "num_sparse")
    shapes: list[Dims | Out] = []
    # Indices of a sparse feature are (count, rank), with the batch as first dimension.
    rank = None if batch is None else len(batch) + 1
    shapes += [(op.symbols.fresh(), op.symbols.fresh() if rank is None else rank) for _ in range(sparse)]
    shapes += [(op.symbols.fresh(),) for _ in range(sparse)]
    shapes += [(op.symbols.fresh() if rank is None else rank,) for _ in range(sparse)]
    for shape in op.attr("dense_shapes") or []:
        shapes.append(None if batch is None or shape is None else batch + shape)
    return shapes


def decoded_csv(op: Op) -> RuleResult:
    """`DecodeCSV`: a column for each type."""
    return [op.shape(0)] * op.count("OUT_TYPE")


def decoded_raw(op: Op) -> RuleResult:
    """`DecodeRaw`: each string becomes a vector."""
    shape = op.shape(0)
    return [None if shape is None else (*shape, op.symbols.fresh())]


def reduced_join(op: Op) -> RuleResult:
    """`ReduceJoin`: as a reduction."""
    from graphviz_tb.annotate.infer.rules.reductions import reduced

    return [reduced(op, op.shape(0), 1, bool(op.attr("keep_dims")))]


def string_split(op: Op) -> RuleResult:
    """`StringSplitV2`: a sparse tensor of two dimensions."""
    parts = op.symbols.fresh()
    return [(parts, 2), (parts,), (2,)]


SCALARS = """
    ScalarSummary HistogramSummary ImageSummary AudioSummary AudioSummaryV2 TensorSummary TensorSummaryV2 MergeSummary
    BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2 ConcatenateDataset FilterDataset FlatMapDataset
    GeneratorDataset InterleaveDataset MapAndBatchDataset MapDataset OptionsDataset PaddedBatchDataset
    PaddedBatchDatasetV2 ParallelInterleaveDatasetV4 ParallelMapDataset ParallelMapDatasetV2 ParallelBatchDataset
    PrefetchDataset RangeDataset RepeatDataset ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3
    ShuffleAndRepeatDataset ShuffleAndRepeatDatasetV2 SkipDataset TakeDataset TensorDataset TensorSliceDataset
    TextLineDataset TFRecordDataset WindowDataset ZipDataset ModelDataset FinalizeDataset ShardDataset
    ParallelInterleaveDataset ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3 MaxIntraOpParallelismDataset
    PrivateThreadPoolDataset UniqueDataset RebatchDataset RebatchDatasetV2 FixedLengthRecordDataset
    DatasetCardinality StringFormat Timestamp GetSessionHandle GetSessionHandleV2 HashTableSize
"""
RULES: dict[str, Rule] = {
    **dict.fromkeys(SCALARS.split(), scalar),
    "AnonymousIteratorV2": scalars(2),
    "StringJoin": joined,
    "ReduceJoin": reduced_join,
    **dict.fromkeys(["ParseExample", "ParseExampleV2", "ParseSingleExample"], parsed),
    "DecodeCSV": decoded_csv,
    "DecodeRaw": decoded_raw,
    "StringSplitV2": string_split,
    "StringSplit": string_split,
    "DecodeCompressed": as_input(0),
    "DecodeWav": lambda op: [op.symbols.several(2), ()],
    "SerializeTensor": scalar,
}
