// Colourings stored in the data of a graph.

import { ComparedColouring } from "./changes.js";
import { Colouring } from "./colours.js";

/** The colouring of a file by its word. @param {Graph} graph @param {string} scheme */
export async function loadStoredColouring(graph, scheme) {
  const { blocks } = graph;
  if (scheme === "diff") {
    const names = ["colour/diff", "colour/diff/rows", "changes/legend", "changes/index", "changes/bits"];
    const [head, columns, legend, index, bits] = await Promise.all(names.map((name) => blocks.get(name)));
    return new ComparedColouring(graph, head, columns, legend, index, bits);
  }
  const [head, columns] = await Promise.all([blocks.get(`colour/${scheme}`), blocks.get(`colour/${scheme}/rows`)]);
  const fills = Array.isArray(head.fills) ? head.fills : (await blocks.get(head.fills)).fills;
  return new Colouring(graph, scheme, { ...head, fills }, columns);
}
