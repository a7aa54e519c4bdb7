// What a page costs in a browser: `node page.js PAGE [WIDE]`; one line of JSON. WIDE is a group of a thousand children.
const { chromium } = require("playwright-core");

const [, , file, wide] = process.argv;
const middle = (all) => [...all].sort((one, other) => one - other)[all.length >> 1];

async function opened(browser) {
  const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await tab.goto(`file://${file}`);
  const first = await tab.evaluate(() => window.tbgraph.ready.then(() => performance.now()));
  return [tab, first];
}

/** Milliseconds that opening some groups takes, one after the other. */
const openings = (tab, names) =>
  tab.evaluate(async (names) => {
    const { tbgraph } = window;
    const taken = [];
    for (let at = 0; at < (names ? names.length : 12); at++) {
      const closed = (await tbgraph.scene()).boxes.filter((box) => !box.open && ["scope", "series", "fold", "call"].includes(box.kind));
      if (!names && !closed.length) break;
      const name = names ? names[at] : closed[(at * 7) % closed.length].name;
      const start = performance.now();
      await tbgraph.open(name);
      taken.push(performance.now() - start);
    }
    return taken;
  }, names);

/** Milliseconds of the main thread in each frame of a drag, from the trace. */
async function panning(browser, tab) {
  await tab.keyboard.press("0");
  await tab.waitForTimeout(800);
  await browser.startTracing(tab, { categories: ["devtools.timeline"] });
  await tab.mouse.move(720, 450);
  await tab.mouse.down();
  for (let at = 0; at < 90; at++) {
    await tab.mouse.move(720 + Math.round(300 * Math.sin(at / 8)), 450 + Math.round(200 * Math.sin(at / 13)));
    await tab.evaluate(() => new Promise(requestAnimationFrame));
  }
  await tab.mouse.up();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const work = ["FunctionCall", "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit", "HitTest"];
  const frames = traceEvents.filter((one) => one.name === "FireAnimationFrame").map((one) => one.ts).sort((one, other) => one - other);
  const spent = frames.map((start, at) => {
    const inside = traceEvents.filter((one) => one.ph === "X" && work.includes(one.name) && one.ts >= start && one.ts < (frames[at + 1] ?? Infinity));
    return inside.reduce((sum, one) => sum + (one.tdur ?? one.dur), 0) / 1000;
  });
  spent.sort((one, other) => one - other);
  return spent[Math.floor(spent.length * 0.95)] ?? null;
}

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.TBGRAPH_BROWSER_PATH, args: ["--no-sandbox", "--disable-gpu"] });
  const firsts = [];
  let tab;
  for (let turn = 0; turn < 3; turn++) {
    await tab?.close();
    const [one, first] = await opened(browser);
    tab = one;
    firsts.push(first);
  }
  const open = wide ? await openings(tab, [wide]) : await openings(tab, null);
  const boxes = (await tab.evaluate(() => window.tbgraph.scene())).boxes.length;
  console.log(JSON.stringify({ first: middle(firsts), open: middle(open), boxes, pan: await panning(browser, tab) }));
  await browser.close();
}
main();
