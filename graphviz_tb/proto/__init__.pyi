"""Types of the messages, written by tools/proto_stubs.py: change the .proto files instead."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper
from google.protobuf.message import Message

PACKAGE: str

def message_classes(files: Iterable[FileDescriptorProto], pool: Any = None) -> dict[str, Any]: ...

class _DataType(_EnumTypeWrapper[int]):
    DT_INVALID: int
    DT_FLOAT: int
    DT_DOUBLE: int
    DT_INT32: int
    DT_UINT8: int
    DT_INT16: int
    DT_INT8: int
    DT_STRING: int
    DT_COMPLEX64: int
    DT_INT64: int
    DT_BOOL: int
    DT_QINT8: int
    DT_QUINT8: int
    DT_QINT32: int
    DT_BFLOAT16: int
    DT_QINT16: int
    DT_QUINT16: int
    DT_UINT16: int
    DT_COMPLEX128: int
    DT_HALF: int
    DT_RESOURCE: int
    DT_VARIANT: int
    DT_UINT32: int
    DT_UINT64: int
    DT_FLOAT8_E5M2: int
    DT_FLOAT8_E4M3FN: int
    DT_FLOAT8_E4M3FNUZ: int
    DT_FLOAT8_E4M3B11FNUZ: int
    DT_FLOAT8_E5M2FNUZ: int
    DT_INT4: int
    DT_UINT4: int
    DT_INT2: int
    DT_UINT2: int
    DT_FLOAT4_E2M1FN: int
    DT_FLOAT_REF: int
    DT_DOUBLE_REF: int
    DT_INT32_REF: int
    DT_UINT8_REF: int
    DT_INT16_REF: int
    DT_INT8_REF: int
    DT_STRING_REF: int
    DT_COMPLEX64_REF: int
    DT_INT64_REF: int
    DT_BOOL_REF: int
    DT_QINT8_REF: int
    DT_QUINT8_REF: int
    DT_QINT32_REF: int
    DT_BFLOAT16_REF: int
    DT_QINT16_REF: int
    DT_QUINT16_REF: int
    DT_UINT16_REF: int
    DT_COMPLEX128_REF: int
    DT_HALF_REF: int
    DT_RESOURCE_REF: int
    DT_VARIANT_REF: int
    DT_UINT32_REF: int
    DT_UINT64_REF: int
    DT_FLOAT8_E5M2_REF: int
    DT_FLOAT8_E4M3FN_REF: int
    DT_FLOAT8_E4M3FNUZ_REF: int
    DT_FLOAT8_E4M3B11FNUZ_REF: int
    DT_FLOAT8_E5M2FNUZ_REF: int
    DT_INT4_REF: int
    DT_UINT4_REF: int
    DT_INT2_REF: int
    DT_UINT2_REF: int
    DT_FLOAT4_E2M1FN_REF: int

DataType: _DataType

class _FullTypeId(_EnumTypeWrapper[int]):
    TFT_UNSET: int
    TFT_VAR: int
    TFT_ANY: int
    TFT_PRODUCT: int
    TFT_NAMED: int
    TFT_FOR_EACH: int
    TFT_CALLABLE: int
    TFT_BOOL: int
    TFT_UINT8: int
    TFT_UINT16: int
    TFT_UINT32: int
    TFT_UINT64: int
    TFT_INT8: int
    TFT_INT16: int
    TFT_INT32: int
    TFT_INT64: int
    TFT_HALF: int
    TFT_FLOAT: int
    TFT_DOUBLE: int
    TFT_COMPLEX64: int
    TFT_COMPLEX128: int
    TFT_STRING: int
    TFT_BFLOAT16: int
    TFT_TENSOR: int
    TFT_ARRAY: int
    TFT_OPTIONAL: int
    TFT_LITERAL: int
    TFT_ENCODED: int
    TFT_SHAPE_TENSOR: int
    TFT_DATASET: int
    TFT_RAGGED: int
    TFT_ITERATOR: int
    TFT_MUTEX_LOCK: int
    TFT_LEGACY_VARIANT: int

FullTypeId: _FullTypeId

class FullTypeDef(Message):
    type_id: int
    args: RepeatedCompositeFieldContainer[FullTypeDef]
    s: str
    i: int
    def __init__(
        self,
        *,
        type_id: int | None = ...,
        args: Iterable[FullTypeDef] | None = ...,
        s: str | None = ...,
        i: int | None = ...,
    ) -> None: ...

class TensorShapeProto(Message):
    class Dim(Message):
        size: int
        name: str
        def __init__(self, *, size: int | None = ..., name: str | None = ...) -> None: ...

    dim: RepeatedCompositeFieldContainer[TensorShapeProto.Dim]
    unknown_rank: bool
    def __init__(
        self, *, dim: Iterable[TensorShapeProto.Dim] | None = ..., unknown_rank: bool | None = ...
    ) -> None: ...

class ResourceHandleProto(Message):
    class DtypeAndShape(Message):
        dtype: int
        shape: TensorShapeProto
        def __init__(self, *, dtype: int | None = ..., shape: TensorShapeProto | None = ...) -> None: ...

    device: str
    container: str
    name: str
    hash_code: int
    maybe_type_name: str
    dtypes_and_shapes: RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]
    def __init__(
        self,
        *,
        device: str | None = ...,
        container: str | None = ...,
        name: str | None = ...,
        hash_code: int | None = ...,
        maybe_type_name: str | None = ...,
        dtypes_and_shapes: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
    ) -> None: ...

class VariantTensorDataProto(Message):
    type_name: str
    metadata: bytes
    tensors: RepeatedCompositeFieldContainer[TensorProto]
    def __init__(
        self, *, type_name: str | None = ..., metadata: bytes | None = ..., tensors: Iterable[TensorProto] | None = ...
    ) -> None: ...

class TensorProto(Message):
    dtype: int
    tensor_shape: TensorShapeProto
    version_number: int
    tensor_content: bytes
    float_val: RepeatedScalarFieldContainer[float]
    double_val: RepeatedScalarFieldContainer[float]
    int_val: RepeatedScalarFieldContainer[int]
    string_val: RepeatedScalarFieldContainer[bytes]
    scomplex_val: RepeatedScalarFieldContainer[float]
    int64_val: RepeatedScalarFieldContainer[int]
    bool_val: RepeatedScalarFieldContainer[bool]
    dcomplex_val: RepeatedScalarFieldContainer[float]
    half_val: RepeatedScalarFieldContainer[int]
    resource_handle_val: RepeatedCompositeFieldContainer[ResourceHandleProto]
    variant_val: RepeatedCompositeFieldContainer[VariantTensorDataProto]
    uint32_val: RepeatedScalarFieldContainer[int]
    uint64_val: RepeatedScalarFieldContainer[int]
    float8_val: bytes
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
        version_number: int | None = ...,
        tensor_content: bytes | None = ...,
        float_val: Iterable[float] | None = ...,
        double_val: Iterable[float] | None = ...,
        int_val: Iterable[int] | None = ...,
        string_val: Iterable[bytes] | None = ...,
        scomplex_val: Iterable[float] | None = ...,
        int64_val: Iterable[int] | None = ...,
        bool_val: Iterable[bool] | None = ...,
        dcomplex_val: Iterable[float] | None = ...,
        half_val: Iterable[int] | None = ...,
        resource_handle_val: Iterable[ResourceHandleProto] | None = ...,
        variant_val: Iterable[VariantTensorDataProto] | None = ...,
        uint32_val: Iterable[int] | None = ...,
        uint64_val: Iterable[int] | None = ...,
        float8_val: bytes | None = ...,
    ) -> None: ...

class AttrValue(Message):
    class ListValue(Message):
        s: RepeatedScalarFieldContainer[bytes]
        i: RepeatedScalarFieldContainer[int]
        f: RepeatedScalarFieldContainer[float]
        b: RepeatedScalarFieldContainer[bool]
        type: RepeatedScalarFieldContainer[int]
        shape: RepeatedCompositeFieldContainer[TensorShapeProto]
        tensor: RepeatedCompositeFieldContainer[TensorProto]
        func: RepeatedCompositeFieldContainer[NameAttrList]
        def __init__(
            self,
            *,
            s: Iterable[bytes] | None = ...,
            i: Iterable[int] | None = ...,
            f: Iterable[float] | None = ...,
            b: Iterable[bool] | None = ...,
            type: Iterable[int] | None = ...,
            shape: Iterable[TensorShapeProto] | None = ...,
            tensor: Iterable[TensorProto] | None = ...,
            func: Iterable[NameAttrList] | None = ...,
        ) -> None: ...

    list: AttrValue.ListValue
    s: bytes
    i: int
    f: float
    b: bool
    type: int
    shape: TensorShapeProto
    tensor: TensorProto
    placeholder: str
    func: NameAttrList
    def __init__(
        self,
        *,
        list: AttrValue.ListValue | None = ...,
        s: bytes | None = ...,
        i: int | None = ...,
        f: float | None = ...,
        b: bool | None = ...,
        type: int | None = ...,
        shape: TensorShapeProto | None = ...,
        tensor: TensorProto | None = ...,
        placeholder: str | None = ...,
        func: NameAttrList | None = ...,
    ) -> None: ...

class NameAttrList(Message):
    name: str
    attr: MessageMap[str, AttrValue]
    def __init__(self, *, name: str | None = ..., attr: Mapping[str, AttrValue] | None = ...) -> None: ...

class NodeDef(Message):
    class ExperimentalDebugInfo(Message):
        original_node_names: RepeatedScalarFieldContainer[str]
        original_func_names: RepeatedScalarFieldContainer[str]
        def __init__(
            self, *, original_node_names: Iterable[str] | None = ..., original_func_names: Iterable[str] | None = ...
        ) -> None: ...

    name: str
    op: str
    input: RepeatedScalarFieldContainer[str]
    device: str
    attr: MessageMap[str, AttrValue]
    experimental_debug_info: NodeDef.ExperimentalDebugInfo
    experimental_type: FullTypeDef
    def __init__(
        self,
        *,
        name: str | None = ...,
        op: str | None = ...,
        input: Iterable[str] | None = ...,
        device: str | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        experimental_debug_info: NodeDef.ExperimentalDebugInfo | None = ...,
        experimental_type: FullTypeDef | None = ...,
    ) -> None: ...

class OpDef(Message):
    class ArgDef(Message):
        name: str
        description: str
        type: int
        type_attr: str
        number_attr: str
        type_list_attr: str
        handle_data: RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]
        is_ref: bool
        experimental_full_type: FullTypeDef
        def __init__(
            self,
            *,
            name: str | None = ...,
            description: str | None = ...,
            type: int | None = ...,
            type_attr: str | None = ...,
            number_attr: str | None = ...,
            type_list_attr: str | None = ...,
            handle_data: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
            is_ref: bool | None = ...,
            experimental_full_type: FullTypeDef | None = ...,
        ) -> None: ...

    class AttrDef(Message):
        name: str
        type: str
        default_value: AttrValue
        description: str
        has_minimum: bool
        minimum: int
        allowed_values: AttrValue
        def __init__(
            self,
            *,
            name: str | None = ...,
            type: str | None = ...,
            default_value: AttrValue | None = ...,
            description: str | None = ...,
            has_minimum: bool | None = ...,
            minimum: int | None = ...,
            allowed_values: AttrValue | None = ...,
        ) -> None: ...

    name: str
    input_arg: RepeatedCompositeFieldContainer[OpDef.ArgDef]
    output_arg: RepeatedCompositeFieldContainer[OpDef.ArgDef]
    attr: RepeatedCompositeFieldContainer[OpDef.AttrDef]
    summary: str
    description: str
    deprecation: OpDeprecation
    is_aggregate: bool
    is_stateful: bool
    is_commutative: bool
    allows_uninitialized_input: bool
    control_output: RepeatedScalarFieldContainer[str]
    is_distributed_communication: bool
    def __init__(
        self,
        *,
        name: str | None = ...,
        input_arg: Iterable[OpDef.ArgDef] | None = ...,
        output_arg: Iterable[OpDef.ArgDef] | None = ...,
        attr: Iterable[OpDef.AttrDef] | None = ...,
        summary: str | None = ...,
        description: str | None = ...,
        deprecation: OpDeprecation | None = ...,
        is_aggregate: bool | None = ...,
        is_stateful: bool | None = ...,
        is_commutative: bool | None = ...,
        allows_uninitialized_input: bool | None = ...,
        control_output: Iterable[str] | None = ...,
        is_distributed_communication: bool | None = ...,
    ) -> None: ...

class OpDeprecation(Message):
    version: int
    explanation: str
    def __init__(self, *, version: int | None = ..., explanation: str | None = ...) -> None: ...

class OpList(Message):
    op: RepeatedCompositeFieldContainer[OpDef]
    def __init__(self, *, op: Iterable[OpDef] | None = ...) -> None: ...

class FunctionDef(Message):
    class ArgAttrs(Message):
        attr: MessageMap[str, AttrValue]
        def __init__(self, *, attr: Mapping[str, AttrValue] | None = ...) -> None: ...

    signature: OpDef
    node_def: RepeatedCompositeFieldContainer[NodeDef]
    ret: ScalarMap[str, str]
    attr: MessageMap[str, AttrValue]
    control_ret: ScalarMap[str, str]
    arg_attr: MessageMap[int, FunctionDef.ArgAttrs]
    resource_arg_unique_id: ScalarMap[int, int]
    def __init__(
        self,
        *,
        signature: OpDef | None = ...,
        node_def: Iterable[NodeDef] | None = ...,
        ret: Mapping[str, str] | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        control_ret: Mapping[str, str] | None = ...,
        arg_attr: Mapping[int, FunctionDef.ArgAttrs] | None = ...,
        resource_arg_unique_id: Mapping[int, int] | None = ...,
    ) -> None: ...

class GradientDef(Message):
    function_name: str
    gradient_func: str
    def __init__(self, *, function_name: str | None = ..., gradient_func: str | None = ...) -> None: ...

class RegisteredGradient(Message):
    gradient_func: str
    registered_op_type: str
    def __init__(self, *, gradient_func: str | None = ..., registered_op_type: str | None = ...) -> None: ...

class FunctionDefLibrary(Message):
    function: RepeatedCompositeFieldContainer[FunctionDef]
    gradient: RepeatedCompositeFieldContainer[GradientDef]
    registered_gradients: RepeatedCompositeFieldContainer[RegisteredGradient]
    def __init__(
        self,
        *,
        function: Iterable[FunctionDef] | None = ...,
        gradient: Iterable[GradientDef] | None = ...,
        registered_gradients: Iterable[RegisteredGradient] | None = ...,
    ) -> None: ...

class VersionDef(Message):
    producer: int
    min_consumer: int
    bad_consumers: RepeatedScalarFieldContainer[int]
    def __init__(
        self, *, producer: int | None = ..., min_consumer: int | None = ..., bad_consumers: Iterable[int] | None = ...
    ) -> None: ...

class GraphDebugInfo(Message):
    class FileLineCol(Message):
        file_index: int
        line: int
        col: int
        func: str
        code: str
        def __init__(
            self,
            *,
            file_index: int | None = ...,
            line: int | None = ...,
            col: int | None = ...,
            func: str | None = ...,
            code: str | None = ...,
        ) -> None: ...

    class StackTrace(Message):
        file_line_cols: RepeatedCompositeFieldContainer[GraphDebugInfo.FileLineCol]
        frame_id: RepeatedScalarFieldContainer[int]
        def __init__(
            self,
            *,
            file_line_cols: Iterable[GraphDebugInfo.FileLineCol] | None = ...,
            frame_id: Iterable[int] | None = ...,
        ) -> None: ...

    files: RepeatedScalarFieldContainer[str]
    traces: MessageMap[str, GraphDebugInfo.StackTrace]
    frames_by_id: MessageMap[int, GraphDebugInfo.FileLineCol]
    name_to_trace_id: ScalarMap[str, int]
    traces_by_id: MessageMap[int, GraphDebugInfo.StackTrace]
    def __init__(
        self,
        *,
        files: Iterable[str] | None = ...,
        traces: Mapping[str, GraphDebugInfo.StackTrace] | None = ...,
        frames_by_id: Mapping[int, GraphDebugInfo.FileLineCol] | None = ...,
        name_to_trace_id: Mapping[str, int] | None = ...,
        traces_by_id: Mapping[int, GraphDebugInfo.StackTrace] | None = ...,
    ) -> None: ...

class GraphDef(Message):
    node: RepeatedCompositeFieldContainer[NodeDef]
    library: FunctionDefLibrary
    version: int
    versions: VersionDef
    debug_info: GraphDebugInfo
    def __init__(
        self,
        *,
        node: Iterable[NodeDef] | None = ...,
        library: FunctionDefLibrary | None = ...,
        version: int | None = ...,
        versions: VersionDef | None = ...,
        debug_info: GraphDebugInfo | None = ...,
    ) -> None: ...

class BundleHeaderProto(Message):
    num_shards: int
    endianness: int
    version: VersionDef
    def __init__(
        self, *, num_shards: int | None = ..., endianness: int | None = ..., version: VersionDef | None = ...
    ) -> None: ...

class TensorSliceProto(Message):
    def __init__(self) -> None: ...

class BundleEntryProto(Message):
    dtype: int
    shape: TensorShapeProto
    shard_id: int
    offset: int
    size: int
    crc32c: int
    slices: RepeatedCompositeFieldContainer[TensorSliceProto]
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        shape: TensorShapeProto | None = ...,
        shard_id: int | None = ...,
        offset: int | None = ...,
        size: int | None = ...,
        crc32c: int | None = ...,
        slices: Iterable[TensorSliceProto] | None = ...,
    ) -> None: ...

class _DataClass(_EnumTypeWrapper[int]):
    DATA_CLASS_UNKNOWN: int
    DATA_CLASS_SCALAR: int
    DATA_CLASS_TENSOR: int
    DATA_CLASS_BLOB_SEQUENCE: int

DataClass: _DataClass

class SummaryMetadata(Message):
    class PluginData(Message):
        plugin_name: str
        content: bytes
        def __init__(self, *, plugin_name: str | None = ..., content: bytes | None = ...) -> None: ...

    plugin_data: SummaryMetadata.PluginData
    display_name: str
    summary_description: str
    data_class: int
    def __init__(
        self,
        *,
        plugin_data: SummaryMetadata.PluginData | None = ...,
        display_name: str | None = ...,
        summary_description: str | None = ...,
        data_class: int | None = ...,
    ) -> None: ...

class Summary(Message):
    class Image(Message):
        height: int
        width: int
        colorspace: int
        encoded_image_string: bytes
        def __init__(
            self,
            *,
            height: int | None = ...,
            width: int | None = ...,
            colorspace: int | None = ...,
            encoded_image_string: bytes | None = ...,
        ) -> None: ...

    class Audio(Message):
        sample_rate: float
        num_channels: int
        length_frames: int
        encoded_audio_string: bytes
        content_type: str
        def __init__(
            self,
            *,
            sample_rate: float | None = ...,
            num_channels: int | None = ...,
            length_frames: int | None = ...,
            encoded_audio_string: bytes | None = ...,
            content_type: str | None = ...,
        ) -> None: ...

    class Value(Message):
        tag: str
        simple_value: float
        image: Summary.Image
        histo: HistogramProto
        audio: Summary.Audio
        tensor: TensorProto
        node_name: str
        metadata: SummaryMetadata
        def __init__(
            self,
            *,
            tag: str | None = ...,
            simple_value: float | None = ...,
            image: Summary.Image | None = ...,
            histo: HistogramProto | None = ...,
            audio: Summary.Audio | None = ...,
            tensor: TensorProto | None = ...,
            node_name: str | None = ...,
            metadata: SummaryMetadata | None = ...,
        ) -> None: ...

    value: RepeatedCompositeFieldContainer[Summary.Value]
    def __init__(self, *, value: Iterable[Summary.Value] | None = ...) -> None: ...

class HistogramProto(Message):
    min: float
    max: float
    num: float
    sum: float
    sum_squares: float
    bucket_limit: bytes
    bucket: bytes
    def __init__(
        self,
        *,
        min: float | None = ...,
        max: float | None = ...,
        num: float | None = ...,
        sum: float | None = ...,
        sum_squares: float | None = ...,
        bucket_limit: bytes | None = ...,
        bucket: bytes | None = ...,
    ) -> None: ...

class SessionLog(Message):
    status: int
    def __init__(self, *, status: int | None = ...) -> None: ...

class TaggedRunMetadata(Message):
    tag: str
    run_metadata: bytes
    def __init__(self, *, tag: str | None = ..., run_metadata: bytes | None = ...) -> None: ...

class Event(Message):
    wall_time: float
    step: int
    file_version: str
    graph_def: bytes
    summary: Summary
    session_log: SessionLog
    tagged_run_metadata: TaggedRunMetadata
    meta_graph_def: bytes
    def __init__(
        self,
        *,
        wall_time: float | None = ...,
        step: int | None = ...,
        file_version: str | None = ...,
        graph_def: bytes | None = ...,
        summary: Summary | None = ...,
        session_log: SessionLog | None = ...,
        tagged_run_metadata: TaggedRunMetadata | None = ...,
        meta_graph_def: bytes | None = ...,
    ) -> None: ...

class _HParamType(_EnumTypeWrapper[int]):
    HPARAM_TYPE_UNSET: int
    HPARAM_TYPE_STRING: int
    HPARAM_TYPE_BOOL: int
    HPARAM_TYPE_FLOAT64: int

HParamType: _HParamType

class _SessionStatus(_EnumTypeWrapper[int]):
    SESSION_STATUS_UNKNOWN: int
    SESSION_STATUS_SUCCESS: int
    SESSION_STATUS_FAILURE: int
    SESSION_STATUS_RUNNING: int

SessionStatus: _SessionStatus

class HParamValue(Message):
    null_value: int
    number_value: float
    string_value: bytes
    bool_value: bool
    def __init__(
        self,
        *,
        null_value: int | None = ...,
        number_value: float | None = ...,
        string_value: bytes | None = ...,
        bool_value: bool | None = ...,
    ) -> None: ...

class HParamInfo(Message):
    class Values(Message):
        values: RepeatedCompositeFieldContainer[HParamValue]
        def __init__(self, *, values: Iterable[HParamValue] | None = ...) -> None: ...

    class Interval(Message):
        min_value: float
        max_value: float
        def __init__(self, *, min_value: float | None = ..., max_value: float | None = ...) -> None: ...

    name: bytes
    display_name: bytes
    description: bytes
    type: int
    domain_discrete: HParamInfo.Values
    domain_interval: HParamInfo.Interval
    def __init__(
        self,
        *,
        name: bytes | None = ...,
        display_name: bytes | None = ...,
        description: bytes | None = ...,
        type: int | None = ...,
        domain_discrete: HParamInfo.Values | None = ...,
        domain_interval: HParamInfo.Interval | None = ...,
    ) -> None: ...

class MetricInfo(Message):
    class Name(Message):
        group: bytes
        tag: bytes
        def __init__(self, *, group: bytes | None = ..., tag: bytes | None = ...) -> None: ...

    name: MetricInfo.Name
    display_name: bytes
    description: bytes
    def __init__(
        self, *, name: MetricInfo.Name | None = ..., display_name: bytes | None = ..., description: bytes | None = ...
    ) -> None: ...

class HParamsPluginData(Message):
    class Experiment(Message):
        hparam_infos: RepeatedCompositeFieldContainer[HParamInfo]
        metric_infos: RepeatedCompositeFieldContainer[MetricInfo]
        def __init__(
            self, *, hparam_infos: Iterable[HParamInfo] | None = ..., metric_infos: Iterable[MetricInfo] | None = ...
        ) -> None: ...

    class NamedValue(Message):
        key: bytes
        value: HParamValue
        def __init__(self, *, key: bytes | None = ..., value: HParamValue | None = ...) -> None: ...

    class SessionStartInfo(Message):
        hparams: RepeatedCompositeFieldContainer[HParamsPluginData.NamedValue]
        group_name: bytes
        start_time_secs: float
        def __init__(
            self,
            *,
            hparams: Iterable[HParamsPluginData.NamedValue] | None = ...,
            group_name: bytes | None = ...,
            start_time_secs: float | None = ...,
        ) -> None: ...

    class SessionEndInfo(Message):
        status: int
        end_time_secs: float
        def __init__(self, *, status: int | None = ..., end_time_secs: float | None = ...) -> None: ...

    experiment: HParamsPluginData.Experiment
    session_start_info: HParamsPluginData.SessionStartInfo
    session_end_info: HParamsPluginData.SessionEndInfo
    def __init__(
        self,
        *,
        experiment: HParamsPluginData.Experiment | None = ...,
        session_start_info: HParamsPluginData.SessionStartInfo | None = ...,
        session_end_info: HParamsPluginData.SessionEndInfo | None = ...,
    ) -> None: ...

class CustomLayout(Message):
    class Multiline(Message):
        tag: RepeatedScalarFieldContainer[bytes]
        def __init__(self, *, tag: Iterable[bytes] | None = ...) -> None: ...

    class Margin(Message):
        class Series(Message):
            value: bytes
            lower: bytes
            upper: bytes
            def __init__(
                self, *, value: bytes | None = ..., lower: bytes | None = ..., upper: bytes | None = ...
            ) -> None: ...

        series: RepeatedCompositeFieldContainer[CustomLayout.Margin.Series]
        def __init__(self, *, series: Iterable[CustomLayout.Margin.Series] | None = ...) -> None: ...

    class Chart(Message):
        title: bytes
        multiline: CustomLayout.Multiline
        margin: CustomLayout.Margin
        def __init__(
            self,
            *,
            title: bytes | None = ...,
            multiline: CustomLayout.Multiline | None = ...,
            margin: CustomLayout.Margin | None = ...,
        ) -> None: ...

    class Category(Message):
        title: bytes
        chart: RepeatedCompositeFieldContainer[CustomLayout.Chart]
        closed: bool
        def __init__(
            self,
            *,
            title: bytes | None = ...,
            chart: Iterable[CustomLayout.Chart] | None = ...,
            closed: bool | None = ...,
        ) -> None: ...

    version: int
    category: RepeatedCompositeFieldContainer[CustomLayout.Category]
    def __init__(
        self, *, version: int | None = ..., category: Iterable[CustomLayout.Category] | None = ...
    ) -> None: ...

class SpriteMetadata(Message):
    image_path: bytes
    single_image_dim: RepeatedScalarFieldContainer[int]
    def __init__(self, *, image_path: bytes | None = ..., single_image_dim: Iterable[int] | None = ...) -> None: ...

class EmbeddingInfo(Message):
    tensor_name: bytes
    metadata_path: bytes
    bookmarks_path: bytes
    tensor_shape: RepeatedScalarFieldContainer[int]
    sprite: SpriteMetadata
    tensor_path: bytes
    def __init__(
        self,
        *,
        tensor_name: bytes | None = ...,
        metadata_path: bytes | None = ...,
        bookmarks_path: bytes | None = ...,
        tensor_shape: Iterable[int] | None = ...,
        sprite: SpriteMetadata | None = ...,
        tensor_path: bytes | None = ...,
    ) -> None: ...

class ProjectorConfig(Message):
    model_checkpoint_path: bytes
    embeddings: RepeatedCompositeFieldContainer[EmbeddingInfo]
    model_checkpoint_dir: bytes
    def __init__(
        self,
        *,
        model_checkpoint_path: bytes | None = ...,
        embeddings: Iterable[EmbeddingInfo] | None = ...,
        model_checkpoint_dir: bytes | None = ...,
    ) -> None: ...

class AllocationDescription(Message):
    requested_bytes: int
    allocated_bytes: int
    allocator_name: str
    allocation_id: int
    has_single_reference: bool
    ptr: int
    def __init__(
        self,
        *,
        requested_bytes: int | None = ...,
        allocated_bytes: int | None = ...,
        allocator_name: str | None = ...,
        allocation_id: int | None = ...,
        has_single_reference: bool | None = ...,
        ptr: int | None = ...,
    ) -> None: ...

class TensorDescription(Message):
    dtype: int
    shape: TensorShapeProto
    allocation_description: AllocationDescription
    def __init__(
        self,
        *,
        dtype: int | None = ...,
        shape: TensorShapeProto | None = ...,
        allocation_description: AllocationDescription | None = ...,
    ) -> None: ...

class AllocationRecord(Message):
    alloc_micros: int
    alloc_bytes: int
    def __init__(self, *, alloc_micros: int | None = ..., alloc_bytes: int | None = ...) -> None: ...

class AllocatorMemoryUsed(Message):
    allocator_name: str
    total_bytes: int
    peak_bytes: int
    live_bytes: int
    allocator_bytes_in_use: int
    allocation_records: RepeatedCompositeFieldContainer[AllocationRecord]
    def __init__(
        self,
        *,
        allocator_name: str | None = ...,
        total_bytes: int | None = ...,
        peak_bytes: int | None = ...,
        live_bytes: int | None = ...,
        allocator_bytes_in_use: int | None = ...,
        allocation_records: Iterable[AllocationRecord] | None = ...,
    ) -> None: ...

class NodeOutput(Message):
    slot: int
    tensor_description: TensorDescription
    def __init__(self, *, slot: int | None = ..., tensor_description: TensorDescription | None = ...) -> None: ...

class MemoryStats(Message):
    temp_memory_size: int
    device_temp_memory_size: int
    persistent_memory_size: int
    device_persistent_memory_size: int
    persistent_tensor_alloc_ids: RepeatedScalarFieldContainer[int]
    device_persistent_tensor_alloc_ids: RepeatedScalarFieldContainer[int]
    def __init__(
        self,
        *,
        temp_memory_size: int | None = ...,
        device_temp_memory_size: int | None = ...,
        persistent_memory_size: int | None = ...,
        device_persistent_memory_size: int | None = ...,
        persistent_tensor_alloc_ids: Iterable[int] | None = ...,
        device_persistent_tensor_alloc_ids: Iterable[int] | None = ...,
    ) -> None: ...

class NodeExecStats(Message):
    node_name: str
    all_start_micros: int
    op_start_rel_micros: int
    op_end_rel_micros: int
    all_end_rel_micros: int
    memory: RepeatedCompositeFieldContainer[AllocatorMemoryUsed]
    output: RepeatedCompositeFieldContainer[NodeOutput]
    timeline_label: str
    scheduled_micros: int
    thread_id: int
    referenced_tensor: RepeatedCompositeFieldContainer[AllocationDescription]
    memory_stats: MemoryStats
    all_start_nanos: int
    op_start_rel_nanos: int
    op_end_rel_nanos: int
    all_end_rel_nanos: int
    scheduled_nanos: int
    def __init__(
        self,
        *,
        node_name: str | None = ...,
        all_start_micros: int | None = ...,
        op_start_rel_micros: int | None = ...,
        op_end_rel_micros: int | None = ...,
        all_end_rel_micros: int | None = ...,
        memory: Iterable[AllocatorMemoryUsed] | None = ...,
        output: Iterable[NodeOutput] | None = ...,
        timeline_label: str | None = ...,
        scheduled_micros: int | None = ...,
        thread_id: int | None = ...,
        referenced_tensor: Iterable[AllocationDescription] | None = ...,
        memory_stats: MemoryStats | None = ...,
        all_start_nanos: int | None = ...,
        op_start_rel_nanos: int | None = ...,
        op_end_rel_nanos: int | None = ...,
        all_end_rel_nanos: int | None = ...,
        scheduled_nanos: int | None = ...,
    ) -> None: ...

class DeviceStepStats(Message):
    device: str
    node_stats: RepeatedCompositeFieldContainer[NodeExecStats]
    thread_names: ScalarMap[int, str]
    def __init__(
        self,
        *,
        device: str | None = ...,
        node_stats: Iterable[NodeExecStats] | None = ...,
        thread_names: Mapping[int, str] | None = ...,
    ) -> None: ...

class StepStats(Message):
    dev_stats: RepeatedCompositeFieldContainer[DeviceStepStats]
    def __init__(self, *, dev_stats: Iterable[DeviceStepStats] | None = ...) -> None: ...

class CostGraphDef(Message):
    class Node(Message):
        class InputInfo(Message):
            preceding_node: int
            preceding_port: int
            def __init__(self, *, preceding_node: int | None = ..., preceding_port: int | None = ...) -> None: ...

        class OutputInfo(Message):
            size: int
            alias_input_port: int
            shape: TensorShapeProto
            dtype: int
            def __init__(
                self,
                *,
                size: int | None = ...,
                alias_input_port: int | None = ...,
                shape: TensorShapeProto | None = ...,
                dtype: int | None = ...,
            ) -> None: ...

        name: str
        device: str
        id: int
        input_info: RepeatedCompositeFieldContainer[CostGraphDef.Node.InputInfo]
        output_info: RepeatedCompositeFieldContainer[CostGraphDef.Node.OutputInfo]
        temporary_memory_size: int
        is_final: bool
        control_input: RepeatedScalarFieldContainer[int]
        compute_cost: int
        host_temp_memory_size: int
        device_temp_memory_size: int
        persistent_memory_size: int
        compute_time: int
        memory_time: int
        device_persistent_memory_size: int
        inaccurate: bool
        def __init__(
            self,
            *,
            name: str | None = ...,
            device: str | None = ...,
            id: int | None = ...,
            input_info: Iterable[CostGraphDef.Node.InputInfo] | None = ...,
            output_info: Iterable[CostGraphDef.Node.OutputInfo] | None = ...,
            temporary_memory_size: int | None = ...,
            is_final: bool | None = ...,
            control_input: Iterable[int] | None = ...,
            compute_cost: int | None = ...,
            host_temp_memory_size: int | None = ...,
            device_temp_memory_size: int | None = ...,
            persistent_memory_size: int | None = ...,
            compute_time: int | None = ...,
            memory_time: int | None = ...,
            device_persistent_memory_size: int | None = ...,
            inaccurate: bool | None = ...,
        ) -> None: ...

    class AggregatedCost(Message):
        cost: float
        dimension: str
        def __init__(self, *, cost: float | None = ..., dimension: str | None = ...) -> None: ...

    node: RepeatedCompositeFieldContainer[CostGraphDef.Node]
    cost: RepeatedCompositeFieldContainer[CostGraphDef.AggregatedCost]
    def __init__(
        self,
        *,
        node: Iterable[CostGraphDef.Node] | None = ...,
        cost: Iterable[CostGraphDef.AggregatedCost] | None = ...,
    ) -> None: ...

class SessionMetadata(Message):
    name: str
    version: int
    def __init__(self, *, name: str | None = ..., version: int | None = ...) -> None: ...

class RunMetadata(Message):
    class FunctionGraphs(Message):
        partition_graphs: RepeatedCompositeFieldContainer[GraphDef]
        pre_optimization_graph: GraphDef
        post_optimization_graph: GraphDef
        def __init__(
            self,
            *,
            partition_graphs: Iterable[GraphDef] | None = ...,
            pre_optimization_graph: GraphDef | None = ...,
            post_optimization_graph: GraphDef | None = ...,
        ) -> None: ...

    step_stats: StepStats
    cost_graph: CostGraphDef
    partition_graphs: RepeatedCompositeFieldContainer[GraphDef]
    function_graphs: RepeatedCompositeFieldContainer[RunMetadata.FunctionGraphs]
    session_metadata: SessionMetadata
    def __init__(
        self,
        *,
        step_stats: StepStats | None = ...,
        cost_graph: CostGraphDef | None = ...,
        partition_graphs: Iterable[GraphDef] | None = ...,
        function_graphs: Iterable[RunMetadata.FunctionGraphs] | None = ...,
        session_metadata: SessionMetadata | None = ...,
    ) -> None: ...

class AnyValue(Message):
    type_url: str
    value: bytes
    def __init__(self, *, type_url: str | None = ..., value: bytes | None = ...) -> None: ...

class SaverDef(Message):
    filename_tensor_name: str
    save_tensor_name: str
    restore_op_name: str
    max_to_keep: int
    sharded: bool
    keep_checkpoint_every_n_hours: float
    version: int
    def __init__(
        self,
        *,
        filename_tensor_name: str | None = ...,
        save_tensor_name: str | None = ...,
        restore_op_name: str | None = ...,
        max_to_keep: int | None = ...,
        sharded: bool | None = ...,
        keep_checkpoint_every_n_hours: float | None = ...,
        version: int | None = ...,
    ) -> None: ...

class CollectionDef(Message):
    class NodeList(Message):
        value: RepeatedScalarFieldContainer[str]
        def __init__(self, *, value: Iterable[str] | None = ...) -> None: ...

    class BytesList(Message):
        value: RepeatedScalarFieldContainer[bytes]
        def __init__(self, *, value: Iterable[bytes] | None = ...) -> None: ...

    class Int64List(Message):
        value: RepeatedScalarFieldContainer[int]
        def __init__(self, *, value: Iterable[int] | None = ...) -> None: ...

    class FloatList(Message):
        value: RepeatedScalarFieldContainer[float]
        def __init__(self, *, value: Iterable[float] | None = ...) -> None: ...

    class AnyList(Message):
        value: RepeatedCompositeFieldContainer[AnyValue]
        def __init__(self, *, value: Iterable[AnyValue] | None = ...) -> None: ...

    node_list: CollectionDef.NodeList
    bytes_list: CollectionDef.BytesList
    int64_list: CollectionDef.Int64List
    float_list: CollectionDef.FloatList
    any_list: CollectionDef.AnyList
    def __init__(
        self,
        *,
        node_list: CollectionDef.NodeList | None = ...,
        bytes_list: CollectionDef.BytesList | None = ...,
        int64_list: CollectionDef.Int64List | None = ...,
        float_list: CollectionDef.FloatList | None = ...,
        any_list: CollectionDef.AnyList | None = ...,
    ) -> None: ...

class TensorInfo(Message):
    class CooSparse(Message):
        values_tensor_name: str
        indices_tensor_name: str
        dense_shape_tensor_name: str
        def __init__(
            self,
            *,
            values_tensor_name: str | None = ...,
            indices_tensor_name: str | None = ...,
            dense_shape_tensor_name: str | None = ...,
        ) -> None: ...

    class CompositeTensor(Message):
        components: RepeatedCompositeFieldContainer[TensorInfo]
        def __init__(self, *, components: Iterable[TensorInfo] | None = ...) -> None: ...

    name: str
    coo_sparse: TensorInfo.CooSparse
    composite_tensor: TensorInfo.CompositeTensor
    dtype: int
    tensor_shape: TensorShapeProto
    def __init__(
        self,
        *,
        name: str | None = ...,
        coo_sparse: TensorInfo.CooSparse | None = ...,
        composite_tensor: TensorInfo.CompositeTensor | None = ...,
        dtype: int | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
    ) -> None: ...

class SignatureDef(Message):
    inputs: MessageMap[str, TensorInfo]
    outputs: MessageMap[str, TensorInfo]
    method_name: str
    defaults: MessageMap[str, TensorProto]
    def __init__(
        self,
        *,
        inputs: Mapping[str, TensorInfo] | None = ...,
        outputs: Mapping[str, TensorInfo] | None = ...,
        method_name: str | None = ...,
        defaults: Mapping[str, TensorProto] | None = ...,
    ) -> None: ...

class AssetFileDef(Message):
    tensor_info: TensorInfo
    filename: str
    def __init__(self, *, tensor_info: TensorInfo | None = ..., filename: str | None = ...) -> None: ...

class SavedObjectGraph(Message):
    def __init__(self) -> None: ...

class MetaGraphDef(Message):
    class MetaInfoDef(Message):
        meta_graph_version: str
        stripped_op_list: OpList
        any_info: AnyValue
        tags: RepeatedScalarFieldContainer[str]
        tensorflow_version: str
        tensorflow_git_version: str
        stripped_default_attrs: bool
        function_aliases: ScalarMap[str, str]
        def __init__(
            self,
            *,
            meta_graph_version: str | None = ...,
            stripped_op_list: OpList | None = ...,
            any_info: AnyValue | None = ...,
            tags: Iterable[str] | None = ...,
            tensorflow_version: str | None = ...,
            tensorflow_git_version: str | None = ...,
            stripped_default_attrs: bool | None = ...,
            function_aliases: Mapping[str, str] | None = ...,
        ) -> None: ...

    meta_info_def: MetaGraphDef.MetaInfoDef
    graph_def: GraphDef
    saver_def: SaverDef
    collection_def: MessageMap[str, CollectionDef]
    signature_def: MessageMap[str, SignatureDef]
    asset_file_def: RepeatedCompositeFieldContainer[AssetFileDef]
    object_graph_def: SavedObjectGraph
    def __init__(
        self,
        *,
        meta_info_def: MetaGraphDef.MetaInfoDef | None = ...,
        graph_def: GraphDef | None = ...,
        saver_def: SaverDef | None = ...,
        collection_def: Mapping[str, CollectionDef] | None = ...,
        signature_def: Mapping[str, SignatureDef] | None = ...,
        asset_file_def: Iterable[AssetFileDef] | None = ...,
        object_graph_def: SavedObjectGraph | None = ...,
    ) -> None: ...

class SavedModel(Message):
    saved_model_schema_version: int
    meta_graphs: RepeatedCompositeFieldContainer[MetaGraphDef]
    def __init__(
        self, *, saved_model_schema_version: int | None = ..., meta_graphs: Iterable[MetaGraphDef] | None = ...
    ) -> None: ...

class XStat(Message):
    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    str_value: str
    bytes_value: bytes
    ref_value: int
    def __init__(
        self,
        *,
        metadata_id: int | None = ...,
        double_value: float | None = ...,
        uint64_value: int | None = ...,
        int64_value: int | None = ...,
        str_value: str | None = ...,
        bytes_value: bytes | None = ...,
        ref_value: int | None = ...,
    ) -> None: ...

class XEvent(Message):
    metadata_id: int
    offset_ps: int
    num_occurrences: int
    duration_ps: int
    stats: RepeatedCompositeFieldContainer[XStat]
    def __init__(
        self,
        *,
        metadata_id: int | None = ...,
        offset_ps: int | None = ...,
        num_occurrences: int | None = ...,
        duration_ps: int | None = ...,
        stats: Iterable[XStat] | None = ...,
    ) -> None: ...

class XLine(Message):
    id: int
    name: str
    timestamp_ns: int
    events: RepeatedCompositeFieldContainer[XEvent]
    duration_ps: int
    display_id: int
    display_name: str
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        timestamp_ns: int | None = ...,
        events: Iterable[XEvent] | None = ...,
        duration_ps: int | None = ...,
        display_id: int | None = ...,
        display_name: str | None = ...,
    ) -> None: ...

class XEventMetadata(Message):
    id: int
    name: str
    metadata: bytes
    display_name: str
    stats: RepeatedCompositeFieldContainer[XStat]
    child_id: RepeatedScalarFieldContainer[int]
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        metadata: bytes | None = ...,
        display_name: str | None = ...,
        stats: Iterable[XStat] | None = ...,
        child_id: Iterable[int] | None = ...,
    ) -> None: ...

class XStatMetadata(Message):
    id: int
    name: str
    description: str
    def __init__(self, *, id: int | None = ..., name: str | None = ..., description: str | None = ...) -> None: ...

class XPlane(Message):
    id: int
    name: str
    lines: RepeatedCompositeFieldContainer[XLine]
    event_metadata: MessageMap[int, XEventMetadata]
    stat_metadata: MessageMap[int, XStatMetadata]
    stats: RepeatedCompositeFieldContainer[XStat]
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        lines: Iterable[XLine] | None = ...,
        event_metadata: Mapping[int, XEventMetadata] | None = ...,
        stat_metadata: Mapping[int, XStatMetadata] | None = ...,
        stats: Iterable[XStat] | None = ...,
    ) -> None: ...

class XSpace(Message):
    planes: RepeatedCompositeFieldContainer[XPlane]
    errors: RepeatedScalarFieldContainer[str]
    warnings: RepeatedScalarFieldContainer[str]
    hostnames: RepeatedScalarFieldContainer[str]
    def __init__(
        self,
        *,
        planes: Iterable[XPlane] | None = ...,
        errors: Iterable[str] | None = ...,
        warnings: Iterable[str] | None = ...,
        hostnames: Iterable[str] | None = ...,
    ) -> None: ...
