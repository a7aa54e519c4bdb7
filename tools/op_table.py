"""Write the columns `outputs` and `defaults` of `ops.tsv` from TensorFlow's registry, and those of the ops of PyTorch
from its schemas; the other columns are kept.

Needs TensorFlow or PyTorch: ``python tools/op_table.py [tensorflow|torch]``. Names, dtypes and defaults of
released ops never change, so the table of a newer release also fits graphs of older ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphviz_tb.ops.table import OpRow, read_table

TABLE = Path(__file__).parents[1] / "graphviz_tb/ops/ops.tsv"
# Attributes that shapes, dtypes and costs never need.
SKIPPED_ATTRIBUTES = {"container", "shared_name", "config", "config_proto", "executor_type", "use_locking", "metadata"}


def _write_op_table() -> None:
    """Write `ops.tsv`; ops that TensorFlow does not register keep their lines."""
    from tensorflow.core.framework import op_def_pb2  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from tensorflow.python.client import pywrap_tf_session  # type: ignore[import-untyped,import-not-found,unused-ignore]

    listed = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    rows = _read_rows()
    for op in filter(_is_public_op, listed.op):
        rows[op.name] = rows.get(op.name, OpRow())._replace(
            outputs=" ".join(_format_outputs(op)), defaults=_format_defaults(op)
        )
    _write_rows(rows)


def _write_torch_defaults() -> None:
    """Write the defaults of the ops of PyTorch that `ops.tsv` lists."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    rows = _read_rows()
    for op in (name for name in rows if name.startswith("aten::")):
        schemas = torch._C._jit_get_schemas_for_operator(op)
        if schemas:
            rows[op] = rows[op]._replace(defaults=_settings_as_json(schemas))
    _write_rows(rows)


def _settings_as_json(schemas: Sequence[Any]) -> str:
    """Return the defaults of the settings of an op as JSON: those of its first overload with that setting."""
    default_of: dict[str, Any] = {}
    for schema in schemas:
        for argument in schema.arguments:
            value = argument.default_value
            if isinstance(value, bool | int | float | str | list) and "Tensor" not in str(argument.type):
                default_of.setdefault(argument.name, value)
    return json.dumps(default_of, separators=(",", ":")) if default_of else ""


def _read_rows() -> dict[str, OpRow]:
    text = TABLE.read_text(encoding="utf-8")
    return {op: OpRow(*line.split("\t")) for op, line in read_table(text).items()}


def _write_rows(rows: Mapping[str, OpRow]) -> None:
    # Patterns stay first, in their order, as the first match counts.
    order = sorted(rows, key=lambda op: (False,) if "*" in op else (True, op))
    text = "".join("\t".join((op, *rows[op])).rstrip("\t") + "\n" for op in order)
    head = "\t".join(("# op", *OpRow._fields))
    TABLE.write_text(f"{head}\n{text}", encoding="utf-8")


def _is_public_op(op: Any) -> bool:
    """Return whether an op occurs in graphs that people write, not only in those that the runtime makes."""
    return not op.name.startswith(("_Mkl", "_MKL", "_Xla", "_TPU", "_Kernel"))


def _format_outputs(op: Any) -> Iterator[str]:
    """Yield outputs as `name:dtype` or `name:$attribute`; lists as `name:dtype*count` or `name:*attribute`."""
    for arg in op.output_arg:
        if arg.type_list_attr:
            yield f"{arg.name}:*{arg.type_list_attr}"
            continue
        dtype = f"${arg.type_attr}" if arg.type_attr else _base_dtype_name(arg.type)
        yield f"{arg.name}:{dtype}" + (f"*{arg.number_attr}" if arg.number_attr else "")


def _format_defaults(op: Any) -> str:
    """Return the defaults of attributes as JSON, "" if there are none."""
    default_of = {}
    for attr in op.attr:
        if attr.name in SKIPPED_ATTRIBUTES or attr.name.startswith("_") or not attr.HasField("default_value"):
            continue
        value = _default_as_json(attr.default_value)
        if value is not None:
            default_of[attr.name] = value
    return json.dumps(default_of, separators=(",", ":")) if default_of else ""


def _base_dtype_name(number: int) -> str:
    """Return the name of a dtype; of a reference that of its base type."""
    from tensorflow import dtypes  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return str(dtypes.as_dtype(number).base_dtype.name)


def _default_as_json(value: Any) -> Any:
    """Return a default as JSON; None for a shape, a tensor or a function."""
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode("utf-8", "replace")
    if kind == "type":
        return _base_dtype_name(value.type)
    if kind in ("i", "b"):
        return getattr(value, kind)
    if kind == "f":
        # A float32: 0.001 is 0.0010000000474974513 in the registry.
        return round(value.f, 9)
    if kind == "list":
        # A list does not state its type: take the one field that is filled.
        lists = [[text.decode("utf-8", "replace") for text in value.list.s], list(value.list.i), list(value.list.b)]
        return next((each for each in lists if each), None if value.list.ListFields() else [])
    return None


if __name__ == "__main__":
    _write_torch_defaults() if sys.argv[1:] == ["torch"] else _write_op_table()
