"""Suffixes that no format has: those that are another spelling of one, and what is near the rest."""

from __future__ import annotations

# Suffix → the format that it is a spelling of.
SPELLED_SUFFIXES: dict[str, str] = {
    ".gv": "dot",
    ".htm": "html",
    ".mermaid": "mermaid",
}
_PIXELS = "pixels are written as PNG: -o {stem}.png"
_VECTORS = "vectors are written as PDF or SVG: -o {stem}.pdf"
_GRAPHS = "graphs for other programs are .graphml, .cyjs, .dot and .json: -o {stem}.graphml"
_TABLES = "points of a log are written by `tbgraph scalars LOGDIR -o {stem}.csv`"
_MODELS = "tbgraph reads models and writes pictures of them: -o {stem}.svg"
_WORDS = "`tbgraph tree MODEL` and `tbgraph info MODEL` say it in words"
NEAR_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".ico", ".heic"), _PIXELS),
    **dict.fromkeys((".eps", ".ps", ".emf", ".wmf", ".svgz", ".tex", ".tikz", ".ai", ".drawio"), _VECTORS),
    **dict.fromkeys((".gml", ".gexf", ".graphson", ".yaml", ".yml", ".xml", ".gpickle"), _GRAPHS),
    **dict.fromkeys((".pb", ".pbtxt", ".keras", ".h5", ".onnx", ".tflite", ".pt", ".pth", ".pt2", ".ckpt"), _MODELS),
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".parquet"), _TABLES),
    **dict.fromkeys((".txt", ".log", ".rst", ".docx", ".pptx"), _WORDS),
    ".md": "a flowchart for Markdown is Mermaid: -o {stem}.mmd",
}


def nearest_output(target: str) -> str | None:
    """Return what to write instead of an output whose suffix no format has; None where nothing is near.

    >>> nearest_output("figs/net.jpg"), nearest_output("net.xyz")
    ('pixels are written as PNG: -o figs/net.png', None)
    """
    stem, dot, suffix = target.rpartition(".")
    near = NEAR_SUFFIXES.get(dot + suffix.lower())
    return None if near is None else near.format(stem=stem or "graph")
