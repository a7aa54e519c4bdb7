// Makes scenes outside a browser: reads a page's data and open sets, writes what `place.js` gives.
// Usage: node scenes.js SCRIPT DATA (see scenes.py)
const fs = require("node:fs");
const [, , script, file] = process.argv;
const { cases } = JSON.parse(fs.readFileSync(file, "utf8"));
const make = new Function(`${fs.readFileSync(script, "utf8")}\nreturn {Blocks, Graph, Views, Moves, layout};`);
const { Blocks, Graph, Views, Moves, layout } = make();

async function main() {
  const out = [];
  for (const { head, blocks, open, options } of cases) {
    const held = new Blocks(blocks.map((one) => ({ ...one, read: () => one.data })));
    layout.setAdvances(head.advances);
    head.levels = await held.get("levels");
    const graph = new Graph(head, held, await held.get("words"), await held.get("rows"), await held.get("copies"));
    const [views, frames] = [new Views(graph), new layout.FrameCache()]; // kept from one picture to the next, as in the page
    for (const { paths, apart, aux } of open) {
      if (!(graph.ungroupedLevels instanceof Map)) throw new Error("the page keeps its ungrouped levels elsewhere");
      graph.ungroupedLevels = new Map(apart.map((row) => [String(row), [row]]));
      const set = new Map(paths.map((path) => [graph.key(path), path]));
      await graph.loadLevels([[0], ...paths]);
      const moves = new Moves();
      for (const path of aux) moves.aux.set(graph.key(path), path);
      const view = views.buildView(set, () => null, options.max_annotations, moves);
      out.push(layout.place(view, options, frames));
    }
  }
  process.stdout.write(JSON.stringify(out));
}
main();
