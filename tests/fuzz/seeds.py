"""Small files of every kind that is read: what fuzzing begins with."""

from __future__ import annotations

import gzip
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"


def logs(folder: str) -> bytes:
    """The first file of a log directory."""
    return next(path for path in sorted((FIXTURES / "logdirs" / folder).rglob("*")) if path.is_file()).read_bytes()


COLOCATE = (FIXTURES / "real/colocate.pb").read_bytes()
KINDS = {
    "graph": COLOCATE,
    "text": (FIXTURES / "real/hidden_scope.pbtxt").read_bytes(),
    "spelled": (FIXTURES / "rules/text_features.pbtxt").read_bytes(),
    "library": (FIXTURES / "real/func_library_nested.pb").read_bytes(),
    "meta": (FIXTURES / "containers/saver.meta").read_bytes()[:40_000],
    "saved_model": (FIXTURES / "containers/saved_model/saved_model.pb").read_bytes(),
    "events": logs("xor_filewriter"),
    "keras_events": logs("keras3_callback"),
    "trace_events": logs("trace_export"),
    "keras": (FIXTURES / "containers/keras3_functional.json").read_bytes(),
    "keras_archive": (FIXTURES / "containers/keras3_mnist.keras").read_bytes(),
    "run_metadata": (FIXTURES / "run_metadata/mnist_cnn_step099.pb").read_bytes(),
    "gzip": gzip.compress(COLOCATE),
    "checkpoint": (FIXTURES / "broken/model.ckpt.index").read_bytes(),
}
