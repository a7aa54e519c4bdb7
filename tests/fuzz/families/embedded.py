"""Families of logs with embeddings: configurations, values, metadata and checkpoints, sound, odd or damaged."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.fuzz.families import graphs

FIXTURES = Path(__file__).parents[3] / "fixtures"
INDEXES = sorted((FIXTURES / "read" / "checkpoints").rglob("*.index"))
NAMES = ("e.tsv", "e.bytes", "m.tsv", "no.tsv", "../e.tsv", "/etc/passwd", "", "a\\000b", "x" * 5000, ".", "c", "\\377")
CELLS = ("1", "-2.5", "0", "1e300", "nan", "inf", "-inf", "1_0", " 3 ", "x", "", "٣", "0x1")
WAYS = ([], ["--json"], ["-o", "out/a.svg"], ["-o", "out/a.svg", "--color-by", "label"], ["-o", "out/a.png"])


def embedded(random: Random) -> tuple[dict[str, bytes], list[str]]:
    """A log directory, and a command line that reads it."""
    files = {"log/projector_config.pbtxt": config(random).encode("utf-8", "surrogatepass")}
    points = random.choice((0, 1, 3, 40))
    columns = random.choice((1, 2, 5, 300))
    odd = random.random() < 0.5
    rows = ["\t".join(random.choice(CELLS if odd else CELLS[:3]) for _ in range(columns)) for _ in range(points)]
    if odd and rows:
        rows[random.randrange(len(rows))] += random.choice(("\t1", "\r", "\0", "\n\n"))
    files["log/e.tsv"] = "\n".join(rows).encode()
    files["log/e.bytes"] = random.randbytes(random.choice((0, 3, 48, 480)))
    words = (*graphs.ODD, "a", "1", "", "\ufeff", "\x1b[31m", "<b>")
    lines = ["\t".join(random.choice(words) for _ in range(random.choice((1, 2, 70)))) for _ in range(points)]
    files["log/m.tsv"] = "\n".join(lines).encode("utf-8", "surrogatepass")
    if random.random() < 0.4:
        data = bytearray(random.choice(INDEXES).read_bytes())
        if random.random() < 0.5:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        files["log/c.index"] = bytes(data)
        files["log/c.data-00000-of-00001"] = random.randbytes(random.choice((0, 100, 4000)))
    return files, ["project", "log", *random.choice(WAYS)]


def config(random: Random) -> str:
    """A configuration, in which anything may be named."""
    if random.random() < 0.1:
        return random.choice(("", "embeddings {", "embeddings { x: 1 }", "\0", "embeddings: 3", "a" * 9000))
    out = [f'model_checkpoint_path: "{random.choice(NAMES)}"\n'] if random.random() < 0.3 else []
    for number in range(random.choice((0, 1, 2, 30))):
        parts = [f'tensor_name: "{random.choice((*NAMES, f"t{number}", "emb"))}"']
        if random.random() < 0.8:
            parts.append(f'tensor_path: "{random.choice(("e.tsv", "e.tsv", "e.bytes", *NAMES))}"')
        if random.random() < 0.6:
            parts.append(f'metadata_path: "{random.choice(("m.tsv", *NAMES))}"')
        parts += [f"tensor_shape: {random.choice((0, 1, 4, 40, 2**32 - 1))}" for _ in range(random.choice((0, 2, 3)))]
        if random.random() < 0.3:
            sizes = " ".join(
                f"single_image_dim: {random.choice((0, 4, 2**31))}" for _ in range(random.choice((0, 1, 3)))
            )
            parts.append(f'sprite {{ image_path: "{random.choice(NAMES)}" {sizes} }}')
        out.append(f"embeddings {{ {' '.join(parts)} }}\n")
    return "".join(out)


SETS = {"embedded": embedded}
