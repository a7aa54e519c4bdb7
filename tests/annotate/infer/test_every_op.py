"""Every op that has a rule, in random small graphs: what is inferred is never other than TensorFlow's own.

Needs TensorFlow (`pip install tensorflow`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[3]
OTHERWISE = {  # on purpose; each only where the inputs are such that the op fails when it runs, or TensorFlow errs
    "QueueSizeV2",  # TensorFlow says the shape of the handle; the op gives a scalar
    "FractionalAvgPoolGrad",  # the length of the sizes says the rank, TensorFlow says 4 of any length
    "ResizeBilinearGrad",  # image and gradient with other channels
    "SparseDenseCwiseAdd",  # values that are no vector
    "SparseDenseCwiseMul",
    "SparseDenseCwiseDiv",
    "SparseSlice",  # a dense shape that is no vector
}


def test_every_op_is_inferred_as_tensorflow_does(require: Callable[..., None]) -> None:
    require("tensorflow")
    told = subprocess.run(
        [sys.executable, "-m", "tests.annotate.infer.every_op"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = json.loads(told.stdout)
    assert {op: wrong for op, wrong in found["wrong"].items() if op not in OTHERWISE} == {}
    assert len(found["same"]) > 600
