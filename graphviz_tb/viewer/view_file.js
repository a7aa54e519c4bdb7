// Write the view as tbgraph.toml, the file that `tbgraph render` and other commands read.

const VIEW_LISTS = ["open", "hide", "aside", "main", "group", "ungroup", "select"];

/** A quoted text in TOML. @param {string} text */
const tomlText = (text) => JSON.stringify(text.replace(/\p{Surrogate}/gu, "\uFFFD")).replaceAll("\x7f", "\\u007f");

/** @param {any} value */
const tomlValue = (value) => (Array.isArray(value) ? `[${value.map(tomlText).join(", ")}]` : typeof value === "string" ? tomlText(value) : String(value));

/** The entries of the file: the view that the page was made with, changed by the reader's actions. @param {App} app @returns {Record<string, any>} */
function viewValues(app) {
  const { graph, head } = app.state;
  /** @type {Record<string, any>} */
  const out = { ...head.view };
  const add = (/** @type {string} */ key, /** @type {string[]} */ more) => (out[key] = [...new Set([...(out[key] ?? []), ...more])]);
  const moved = (/** @type {"aux" | "main"} */ side) => [...app.state.moves[side].values()].map((path) => graph.address(path));
  const [aside, main] = [moved("aux"), moved("main")];
  out.open = app.state.innermostOpen().map((path) => graph.address(path));
  if (!out.open.length) out.depth = 0;
  if (app.state.listedStacks().length) out["all-members"] = true;
  add("aside", aside);
  add("main", main);
  out.aside = out.aside.filter((/** @type {string} */ name) => !main.includes(name));
  out.main = out.main.filter((/** @type {string} */ name) => !aside.includes(name));
  add("ungroup", app.state.ungroupedSeries().map((path) => graph.address(path)));
  if (app.state.selected) out.select = [graph.address(app.state.selected)];
  out["color-by"] = app.state.scheme;
  if (app.state.themeChoice !== "system") out.theme = app.state.themeChoice;
  return out;
}

/** The whole file. @param {App} app */
export function viewText(app) {
  const values = viewValues(app);
  const lines = Object.entries(values).filter(([, value]) => !isTable(value) && !(Array.isArray(value) && !value.length));
  const order = (/** @type {string} */ key) => (VIEW_LISTS.includes(key) ? VIEW_LISTS.indexOf(key) : VIEW_LISTS.length);
  const valueLines = lines.sort(([a], [b]) => order(a) - order(b)).map(([key, value]) => `${key} = ${tomlValue(value)}\n`);
  const tables = Object.entries(values).filter(([, value]) => isTable(value));
  const tableLines = tables.map(([key, table]) => `\n[${key}]\n${Object.entries(table).map(([name, text]) => `${tomlText(name)} = ${tomlText(text)}\n`).join("")}`);
  return [...valueLines, ...tableLines].join("");
}

/** @param {any} value */
const isTable = (value) => typeof value === "object" && !Array.isArray(value);
