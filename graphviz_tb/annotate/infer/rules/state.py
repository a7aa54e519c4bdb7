"""Variables, tables, queues and iterators: what their attributes or their handles say."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import as_input, fixed_shapes, handle, held, nothing, scalar, scalars
from graphviz_tb.annotate.infer.values import Out, merge


def variable(op: Op) -> RuleResult:
    """`VariableV2`: a reference to the value."""
    return [op.attr("shape")]


def variable_handle(op: Op) -> RuleResult:
    """`VarHandleOp`: a scalar that holds a tensor of the stated shape."""
    return [handle(op.attr("shape"))]


def variable_shape(op: Op) -> RuleResult:
    """`VariableShape`: as long as the rank."""
    shape = op.held(0)
    return [(op.symbols.fresh() if shape is None else len(shape),)]


def assigned(op: Op) -> RuleResult:
    """`Assign`: the variable, which has the value's shape from then on."""
    # Unchecked, a variable takes the shape of any value.
    if op.attr("validate_shape") is False:
        return [op.shape(1)]
    return [merge(op.shape(0), op.shape(1))]


def listed(attr: str) -> Rule:
    """The shapes of all outputs are an attribute."""

    def rule(op: Op) -> RuleResult:
        shapes = op.attr(attr)
        return list(shapes) if isinstance(shapes, list) else []

    return rule


def dequeued(op: Op) -> RuleResult:
    """`QueueDequeueV2`: as many as `component_types`; shapes are those of a queue of one component."""
    count = op.count("component_types")
    # A handle holds one shape: it cannot be that of each of several components.
    return [op.held(0)] if count == 1 else [None] * count


def dequeued_many(op: Op) -> RuleResult:
    """`QueueDequeueManyV2`: so many of them in one."""
    count, shape = op.count("component_types"), op.held(0)
    return [(op.size(1), *shape)] if count == 1 and shape is not None else [None] * count


def queue(op: Op) -> RuleResult:
    """`FIFOQueueV2`: a handle that holds what one component is."""
    shapes = op.attr("shapes")
    return [handle(shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def old_queue(op: Op) -> RuleResult:
    """`FIFOQueue`: the same by reference to a pair of strings."""
    shapes = op.attr("shapes")
    return [Out((2,), None, shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def looked_up(op: Op) -> RuleResult:
    """`LookupTableFindV2`: a value for each key, of the shape of the default."""
    keys, default = op.shape(1), op.shape(2)
    return [keys if default == () else None]


def exported(op: Op) -> RuleResult:
    """`LookupTableExportV2`: all keys, all values."""
    return [(op.symbols.fresh(),), None]


def scattered(op: Op) -> RuleResult:
    """`ScatterUpdate`: the variable."""
    return [op.shape(0)]


def restored(op: Op) -> RuleResult:
    """`RestoreV2`: whatever was saved."""
    return [None] * op.count("dtypes")


# Ops of TensorFlow 1 that give the variable which they change; ops that give nothing; ops that give a handle.
REFERENCES = """
    AssignAdd AssignSub ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdSub
    ScatterNdUpdate ScatterSub ScatterUpdate CountUpTo ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2
    ApplyAdaMax ApplyAdam ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum
    ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp SparseApplyAdadelta
    SparseApplyAdagrad SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl
    SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent
    SparseApplyRMSProp DestroyTemporaryVariable StridedSliceAssign
"""
SILENT = """
    AssignVariableOp AssignAddVariableOp AssignSubVariableOp DestroyResourceOp ResourceScatterAdd ResourceScatterDiv
    ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub ResourceScatterUpdate
    ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate ResourceApplyAdadelta ResourceApplyAdagrad
    ResourceApplyAdagradV2 ResourceApplyAdagradDA ResourceApplyAdaMax ResourceApplyAdam ResourceApplyAdamWithAmsgrad
    ResourceApplyAddSign ResourceApplyCenteredRMSProp ResourceApplyFtrl ResourceApplyFtrlV2
    ResourceApplyGradientDescent ResourceApplyKerasMomentum ResourceApplyMomentum ResourceApplyPowerSign
    ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent ResourceApplyRMSProp
    ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad ResourceSparseApplyAdagradV2
    ResourceSparseApplyAdagradDA ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl
    ResourceSparseApplyFtrlV2 ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum
    ResourceSparseApplyProximalAdagrad ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp
    ResourceStridedSliceAssign SaveV2 Save SaveSlices MergeV2Checkpoints QueueEnqueueV2 QueueEnqueueManyV2 QueueEnqueue
    QueueEnqueueMany QueueClose QueueCloseV2 InitializeTable InitializeTableV2 InitializeTableFromTextFileV2
    LookupTableInsertV2 LookupTableImportV2 LookupTableRemoveV2 MakeIterator WriteSummary WriteScalarSummary
    WriteHistogramSummary WriteImageSummary WriteGraphSummary FlushSummaryWriter CloseSummaryWriter
    CreateSummaryFileWriter TensorArrayCloseV3 StackCloseV2 TensorArrayClose TensorArrayCloseV2 StackClose Abort
    DeleteSessionTensor DeleteIterator DeleteMemoryCache DeleteMultiDeviceIterator ReaderResetV2 ReaderRestoreStateV2
    WriteFile WriteAudioSummary WriteRawProtoSummary WriteSummary ImportEvent BoostedTreesCreateEnsemble
"""
HANDLES = """
    HashTableV2 MutableHashTableV2 MutableHashTableOfTensorsV2 MutableDenseHashTableV2 Iterator IteratorV2
    OneShotIterator AnonymousIterator SummaryWriter MutexV2 StatefulRandomSeed
    TextLineReaderV2 FixedLengthRecordReaderV2 TFRecordReaderV2 WholeFileReaderV2 IdentityReaderV2
    IteratorFromStringHandle IteratorFromStringHandleV2 AnonymousHashTable AnonymousMutableHashTable DummySeedGenerator
    AnonymousSeedGenerator AnonymousRandomSeedGenerator DummyMemoryCache AnonymousMemoryCache MultiDeviceIterator
"""
OLD_HANDLES = (
    "HashTable MutableHashTable MutableHashTableOfTensors MutableDenseHashTable ConditionalAccumulator Barrier"
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(OLD_HANDLES.split(), fixed_shapes((2,))),  # a container and a name
    **dict.fromkeys(REFERENCES.split(), scattered),
    **dict.fromkeys(SILENT.split(), nothing),
    **dict.fromkeys(HANDLES.split(), scalar),
    **dict.fromkeys(["Variable", "VariableV2", "TemporaryVariable"], variable),
    **dict.fromkeys(["VarHandleOp", "_VarHandlesOp"], variable_handle),
    **dict.fromkeys(["ReadVariableOp"], held),
    **dict.fromkeys(["FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"], queue),
    **dict.fromkeys(["FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"], old_queue),
    **dict.fromkeys(["QueueDequeue", "QueueDequeueV2"], dequeued),
    **dict.fromkeys(["QueueDequeueMany", "QueueDequeueManyV2"], dequeued_many),
    **dict.fromkeys(
        ["IteratorGetNext", "IteratorGetNextSync", "DatasetToSingleElement", "OptionalGetValue"],
        listed("output_shapes"),
    ),
    "VariableShape": variable_shape,
    "Assign": assigned,
    "VarIsInitializedOp": scalar,
    "IsVariableInitialized": scalar,
    **dict.fromkeys(["TensorMapHasKey", "ToBool", "ExperimentalBytesProducedStatsDataset"], scalar),
    "QueueSize": scalar,
    "QueueSizeV2": scalar,
    "QueueIsClosedV2": scalar,
    "LookupTableFindV2": looked_up,
    "LookupTableFind": looked_up,
    "LookupTableSizeV2": scalar,
    "LookupTableExportV2": exported,
    "RestoreV2": restored,
    "Restore": lambda op: [None],
    "RestoreSlice": lambda op: [None],
    "ShardedFilename": scalar,
    "ShardedFilespec": scalar,
    "IteratorGetNextAsOptional": scalar,
    "IteratorToStringHandle": scalar,
    "OptionalFromValue": scalar,
    "OptionalNone": scalar,
    "OptionalHasValue": scalar,
    "ReaderReadV2": scalars(2),
    "ReaderRead": scalars(2),
    "ReaderReadUpToV2": lambda op: [(op.symbols.fresh(),)] * 2,
    "ReadFile": as_input(0),
    "MatchingFiles": lambda op: [(op.symbols.fresh(),)],
}
