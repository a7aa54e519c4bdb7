"""Families of folders: logs of runs, SavedModels with what lies beside them, folders of models that are compared."""

from __future__ import annotations

import gzip
import json
from random import Random

from google.protobuf import text_format

from graphviz_tb.proto import SavedModel
from tests.fuzz.families import addressed, damage, graphs, grown, grown_json, records, saved

RUNS = (
    "",
    "train/",
    "train/",
    "eval/",
    "a/b/c/",
    "<b>/",
    "é/",
    ".hidden/",
    "-x/",
    "*/",
    "x\ny/",
    "ي/",
    "\u202e/",
    "a b/",
)
Made = tuple[dict[str, bytes], list[str]]


def logs(random: Random) -> Made:
    """Runs of any name, with event files of any content, and profiles; and a command that takes one of them."""
    files = {}
    made = [random.choice((records.events, records.events, grown.grown_events))(random)[1] for _ in range(3)]
    for at in range(random.choice((1, 2, 5, 40))):
        run, data = random.choice(RUNS), random.choice(made)
        if random.random() < 0.1:
            data = gzip.compress(data, mtime=0)
        files[f"logs/{run}events.out.tfevents.{at}"] = data
        if random.random() < 0.2:
            profile = grown.profile(random).SerializeToString()
            files[f"logs/{run}plugins/profile/2020/host.xplane.pb"] = random.choice((profile, random.randbytes(99)))
    run = random.choice((*RUNS, "x", ".", "..")).rstrip("/")
    more = random.choice(([], ["--run", run], ["--run", run, "--step", "all"], ["--run", run, "--kind", "conceptual"]))
    command = random.choice((["info"], ["info", "--json"], ["tree"], ["render", "-o", "out/a.svg"]))
    return files, [*command, "logs", *more]


def saved_folder(random: Random) -> Made:
    """A SavedModel with its metadata, variables, assets, fingerprint: good, of something else, or empty."""
    model: SavedModel = grown.changed(grown.saved_model(random), random, random.choice((0, 0, 1, 3)))
    files = {"sm/saved_model.pb": model.SerializeToString()}
    if random.random() < 0.1:
        files = {"sm/saved_model.pbtxt": text_format.MessageToString(model).encode()}
    if random.random() < 0.6:
        files["sm/keras_metadata.pb"] = metadata(random)
    for name in ("variables/variables.index", "variables", "assets/words.txt", "fingerprint.pb", "saved_model.pbtxt"):
        if random.random() < 0.2 and not any(each.startswith(f"sm/{name}") for each in files):
            files[f"sm/{name}"] = random.choice((b"", random.randbytes(30), random.choice(damage.samples())[1]))
    if "sm/variables" in files:
        files.pop("sm/variables/variables.index", None)
    more = random.choice(([], ["--whole-file"], ["--kind", "conceptual"], ["--show-variables"], ["--tag-set", "serve"]))
    command = random.choice(
        (["info"], ["tree", "--json"], ["render", "-o", "out/a.svg"], ["render", "-o", "out/a.json"])
    )
    return files, [*command, "sm", *more]


def metadata(random: Random) -> bytes:
    """What Keras 2 writes of its layers, with paths and JSON that are right, changed, or nothing of the sort."""
    rows = []
    for at in range(random.choice((0, 1, 5, 300))):
        path = random.choice(("root", f"root.l{at}", "root" + ".layer" * at, "a..b", "", "root.keras_api.x"))
        layer = {"class_name": "Dense", "name": f"l{at}", "config": {"name": f"l{at}", "units": 3}}
        model = random.choice((layer, layer, grown_json.model(random), random.choice(grown_json.LIES)))
        text = json.dumps(model).encode()
        sort = random.choice((b"_tf_keras_layer", b"_tf_keras_model", b"_tf_keras_metric", b""))
        row = saved.field(2, at) + saved.field(3, path.encode()) + saved.field(4, sort)
        rows.append(saved.field(1, row + saved.field(5, text[: random.choice((None, None, None, 50))])))
        if sum(map(len, rows)) > 300_000:
            break
    return b"".join(rows)


def models(random: Random) -> Made:
    """Two folders of models, some of them in both, some changed, some no models."""
    files = {}
    for at in range(random.choice((0, 1, 4, 12))):
        name = random.choice(("x", "y/z", "<b>", "é", "\u202e", "a b", "-q", "a\nb")) + f"{at}.pb"
        one = _model(random)
        for side in random.choice((("a",), ("b",), ("a", "b"), ("a", "b"), ("a", "b"))):
            files[f"{side}/{name}"] = random.choice((one, one, _model(random), b"rubbish", b"", one[:-3]))
    for side in "ab":
        files.setdefault(f"{side}/one.pb", _model(random))
    more = random.choice(([], ["--format", "json"], ["--format", "markdown"], ["--all"], ["--fail-on", "signature"]))
    return files, ["diff", "a", "b", *more, *random.choice(([], [], [], [], ["-q"], ["-o", "out/a.md"]))]


def _model(random: Random) -> bytes:
    makers = (grown.graph, graphs.numbered, graphs.odd_names, addressed.named_as_addresses)
    return random.choice(makers)(random).SerializeToString()


SETS = {make.__name__: make for make in (logs, saved_folder, models)}
