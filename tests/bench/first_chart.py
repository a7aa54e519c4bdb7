"""From a command to the first chart in its page: `python -m tests.bench.first_chart [--tensorboard PROGRAM]`.

Makes a log as PyTorch writes it, of ten tags and a thousand steps a run, and measures in headless Chromium the wall
time from the start of the server until the chart of the first tag has the lines of all runs. `--tensorboard` is
TensorBoard's program, which is started with its data server and whose page is opened as soon as all runs are listed;
ours is opened when its address is printed. Both are measured in turns, on one machine, and the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.logged import make

SCRIPT = Path(__file__).with_suffix(".js")
PORT = 7106  # of TensorBoard
GOAL = 3  # times as fast
ADDRESS = r"http://[^\s/]+:\d+/"
OURS = "document.querySelector('.chart-card')?.ariaLabel?.includes(': {runs} runs, last values')"
# A row of the table below the chart comes with its lines; while points are under way there is a spinner.
THEIRS = (
    "(card => card && !card.querySelector('mat-spinner') && card.textContent.includes('run_000'))"
    "(document.querySelector('scalar-card'))"
)


def seconds(page: str, shown: str, command: list[str], runs: int = 0, shot: str = "") -> tuple[float, float]:
    """Wall seconds until the server printed its address, and until the chart was drawn."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    more = {"TBGRAPH_BROWSER_PATH": program, "RUNS": str(runs or ""), "SHOT": shot}
    words = ["node", str(SCRIPT), ADDRESS, page, shown, *command]
    done = subprocess.run(words, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    listening, drawn = json.loads(done.stdout)
    return listening, drawn


def ours(folder: Path, runs: int, shot: str = "") -> tuple[float, float]:
    """Seconds of `tbgraph serve`, with all runs chosen."""
    command = [sys.executable, "-m", "graphviz_tb", "serve", str(folder), "--port", "0", "-q"]
    names = ",".join(f"run_{run:03}" for run in range(runs))
    return seconds(f"#runs={names}", OURS.format(runs=runs), command, shot=shot)


def theirs(folder: Path, runs: int, program: str, shot: str = "") -> tuple[float, float]:
    """Seconds of TensorBoard, which chooses all runs at first."""
    command = [program, "--logdir", str(folder), "--port", str(PORT), "--load_fast=true"]
    return seconds("#timeseries", THEIRS, command, runs, shot)


def main() -> int:
    """Print a line for each turn, and the ratio of the best ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorboard", metavar="PROGRAM", help="TensorBoard's program, to compare with")
    parser.add_argument("--runs", type=int, default=100, help="of 10,000 points each [100]")
    parser.add_argument("--turns", type=int, default=2, help="how often each is measured; the best counts [2]")
    parser.add_argument("--shots", metavar="FOLDER", help="keep a picture of each page there")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "logs"
        points = make(folder, "a1", options.runs / 100)
        found: dict[str, list[float]] = {"tbgraph": [], "tensorboard": []}
        for _ in range(options.turns):
            for name, taken in found.items():
                if name == "tensorboard" and not options.tensorboard:
                    continue
                shot = f"{options.shots}/{name}.png" if options.shots else ""
                load = os.getloadavg()[0]
                listening, shown = (
                    ours(folder, options.runs, shot)
                    if name == "tbgraph"
                    else theirs(folder, options.runs, options.tensorboard, shot)
                )
                taken.append(shown)
                print(f"{name:<12}{listening:>7.2f} s to the address{shown:>7.2f} s to the chart, load {load:.1f}")
    print(f"{points:,} points")
    if found["tensorboard"]:
        print(f"{min(found['tensorboard']) / min(found['tbgraph']):.1f} × as fast as TensorBoard (goal {GOAL})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
