"""Write `expected/` again: python tests/conformance/make.py ORACLE_DIR

ORACLE_DIR holds one `NAME.json` or `NAME.json.gz` for each graph: what TensorBoard's own code computed in a browser.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from facts import flat_of_oracle, load, of_oracle

HERE = Path(__file__).parent
# Fixture → the name under which it was shown to TensorBoard, where they differ.
SHOWN_AS = {
    "keras2_functional": "keras2_functional_tb",
    "keras2_mnist": "keras2_mnist_tb",
    "mnist_cnn": "mnist_cnn_summaries",
    "xor": "xor_summaries",
}


def main(folder: Path) -> None:
    target = HERE / "expected"
    target.mkdir(exist_ok=True)
    for fixture in sorted((HERE.parents[1] / "fixtures/real").iterdir()):
        name = fixture.name.partition(".")[0]
        oracle = load(next(folder.glob(f"{SHOWN_AS.get(name, name)}.json*")))
        if not oracle["ok"]:
            print(f"{name}: TensorBoard refuses it ({oracle['why']})")
            continue
        text = json.dumps(of_oracle(oracle) | flat_of_oracle(oracle), separators=(",", ":"), sort_keys=True)
        (target / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
