"""The engines that `tests.bench.layout` compares, each from a graph of boxes to a drawing.

A graph: `{"nodes": [[width, height], ...], "edges": [[from, to], ...]}`. A drawing: the centre of each node and a
polyline for each edge, y growing along the edges.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from graphviz_tb.arrange.level import ArrangeOptions, arrange
from graphviz_tb.model.metagraph import Metaedge, Metagraph
from graphviz_tb.model.skeleton import LevelGaps
from graphviz_tb.place.coordinates import place_level

Graph = dict[str, Any]
Drawing = tuple[list[list[float]], list[list[list[float]]]]
Run = Callable[[Graph, float], tuple[float, Drawing] | None]  # graph, limit -> CPU seconds and drawing, or None


def ours(engine: str) -> Run:
    """One of our own engines: arrange, then place; in one piece, as the others draw it."""

    def run(graph: Graph, limit: float) -> tuple[float, Drawing] | None:
        before = cpu()
        drawing = lay(graph, ArrangeOptions(engine, int(limit), wrap=False))
        return cpu() - before, drawing

    return run


def lay(graph: Graph, options: ArrangeOptions) -> Drawing:
    """The graph as one flat group."""
    sizes = [(round(width), round(height)) for width, height in graph["nodes"]]
    edges = tuple(Metaedge(source, target, 1, 0, 0) for source, target in graph["edges"])
    level = Metagraph(0, tuple(range(1, len(sizes) + 1)), (2,) * len(sizes), edges, ())
    placed = place_level(arrange(level, options), sizes, LevelGaps())
    centres = [[x + width / 2, y + height / 2] for (x, y), (width, height) in zip(placed.positions, sizes, strict=True)]
    return centres, [[list(point) for point in route] for route in placed.routes]


def cpu() -> float:
    """CPU seconds of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def graphviz(graph: Graph, limit: float) -> tuple[float, Drawing] | None:
    """Graphviz's own drawing, splines sampled."""
    before = cpu()
    text = ['digraph{graph[nodesep=0.2777 ranksep=0.5555];node[shape=box fixedsize=true label=""];edge[arrowhead=none]']
    text += [f"{i}[width={w / 72:.4f} height={h / 72:.4f}]" for i, (w, h) in enumerate(graph["nodes"])]
    text += [f"{source}->{target}[id={i}]" for i, (source, target) in enumerate(graph["edges"])]
    text.append("}")
    try:
        done = subprocess.run(
            ["dot", "-Tplain"],
            input="\n".join(text),
            capture_output=True,
            text=True,
            timeout=limit,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    drawing = plain(done.stdout, graph)
    return cpu() - before, drawing


def plain(text: str, graph: Graph) -> Drawing:
    """Read `-Tplain`; equal edges come in the order of the graph."""
    centres: list[list[float]] = [[0.0, 0.0] for _ in graph["nodes"]]
    lines: dict[tuple[int, int], list[list[list[float]]]] = {}
    for line in text.splitlines():
        word = line.split()
        if word[0] == "node":
            centres[int(word[1])] = [float(word[2]) * 72, -float(word[3]) * 72]
        elif word[0] == "edge":
            count = int(word[3])
            spline = [[float(word[4 + 2 * i]) * 72, -float(word[5 + 2 * i]) * 72] for i in range(count)]
            lines.setdefault((int(word[1]), int(word[2])), []).append(sampled(spline))
    return centres, [lines[source, target].pop(0) for source, target in graph["edges"]]


def sampled(spline: list[list[float]]) -> list[list[float]]:
    """Four points for each Bézier segment."""
    points = [spline[0]]
    for at in range(0, len(spline) - 3, 3):
        a, b, c, d = spline[at : at + 4]
        for t in (0.25, 0.5, 0.75, 1.0):
            u = 1 - t
            points.append(
                [u * u * u * a[k] + 3 * u * u * t * b[k] + 3 * u * t * t * c[k] + t * t * t * d[k] for k in (0, 1)]
            )
    return points


def node(script: str) -> Run:
    """A JavaScript engine: the script reads a graph on stdin and prints CPU seconds (warm) and the drawing."""

    def run(graph: Graph, limit: float) -> tuple[float, Drawing] | None:
        try:
            done = subprocess.run(
                ["node", "-e", PRELUDE + script],
                input=json.dumps(graph),
                capture_output=True,
                text=True,
                timeout=limit,
                check=True,
            )
        except (subprocess.SubprocessError, OSError):
            return None
        found = json.loads(done.stdout)
        return found["cpu"], (found["pos"], found["edges"])

    return run


PRELUDE = """
const graph = JSON.parse(require('fs').readFileSync(0));
async function main(once) {
  const times = []; let drawing;
  do {
    const before = process.cpuUsage(); drawing = await once(); const used = process.cpuUsage(before);
    times.push((used.user + used.system) / 1e6);
  } while (times[times.length - 1] < 5 && times.length < 4);
  const warm = times.length > 1 ? times.slice(1).sort((a, b) => a - b) : times;
  console.log(JSON.stringify({cpu: warm[warm.length >> 1], ...drawing}));
}
"""
DAGRE = """
const dagre = require('@dagrejs/dagre');
main(async () => {
  const g = new dagre.graphlib.Graph({multigraph: true});
  g.setGraph({nodesep: 20, ranksep: 40}); g.setDefaultEdgeLabel(() => ({}));
  graph.nodes.forEach(([width, height], i) => g.setNode('' + i, {width, height}));
  graph.edges.forEach(([v, w], i) => g.setEdge('' + v, '' + w, {}, '' + i));
  dagre.layout(g);
  return {pos: graph.nodes.map((_, i) => [g.node('' + i).x, g.node('' + i).y]),
    edges: graph.edges.map(([v, w], i) => g.edge('' + v, '' + w, '' + i).points.map(p => [p.x, p.y]))};
});
"""
ELK = """
const ELK = require('elkjs'); const elk = new ELK();
main(async () => {
  const out = await elk.layout({id: 'r', layoutOptions: {'elk.algorithm': 'layered', 'elk.direction': 'DOWN',
      'elk.edgeRouting': 'POLYLINE', 'elk.spacing.nodeNode': '20', 'elk.layered.spacing.nodeNodeBetweenLayers': '40',
      'elk.separateConnectedComponents': 'false'},
    children: graph.nodes.map(([width, height], i) => ({id: 'n' + i, width, height})),
    edges: graph.edges.map(([v, w], i) => ({id: 'e' + i, sources: ['n' + v], targets: ['n' + w]}))});
  const pos = out.children.map(c => [c.x + c.width / 2, c.y + c.height / 2]);
  const lines = {};
  for (const e of out.edges) { const s = e.sections[0];
    lines[e.id] = [s.startPoint, ...(s.bendPoints || []), s.endPoint].map(p => [p.x, p.y]); }
  return {pos, edges: graph.edges.map((_, i) => lines['e' + i])};
});
"""


def present() -> dict[str, Run]:
    """The engines that can run here."""
    found: dict[str, Run] = {"layered": ours("layered")}
    if shutil.which("dot"):
        found["dot"] = graphviz
    if shutil.which("node"):
        for name, package, script in (("dagre", "@dagrejs/dagre", DAGRE), ("elkjs", "elkjs", ELK)):
            if installed(package):
                found[name] = node(script)
    return found


def installed(package: str) -> bool:
    """Whether Node finds the package: in ./node_modules or through NODE_PATH."""
    folders = [Path("node_modules"), *map(Path, os.environ.get("NODE_PATH", "").split(os.pathsep))]
    return any((folder / package).is_dir() for folder in folders)
