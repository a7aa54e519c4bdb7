// Runs tests of a page in one real browser: `node harness.js PAGES_FOLDER SUITE…`. Each test has a fresh tab; afterwards it
// must have asked for nothing, logged no error, and broken no policy. Results are JSON on standard output.
// The folder's `wanted.json` lists the tests to run, as "SUITE: NAME"; all where there is none.
// TBGRAPH_BROWSER_SLOWDOWN=10 slows each tab down tenfold, and is as much more patient.
const { chromium } = require("playwright-core");
const fs = require("node:fs");
const path = require("node:path");

const ABREAST = 3; // tabs at a time
const SLOWDOWN = Number(process.env.TBGRAPH_BROWSER_SLOWDOWN || 1);
const PATIENCE = 30_000 * SLOWDOWN; // milliseconds: what takes as long does not come at all
const [, , folder, ...suites] = process.argv;
const list = path.join(folder, "wanted.json");
const wanted = fs.existsSync(list) ? new Set(JSON.parse(fs.readFileSync(list, "utf8"))) : null;
const tests = [];
let suite = "";
global.test = (name, run, options = {}) => tests.push({ name: `${suite}: ${name}`, run, options });
global.equal = (found, expected, what = "") => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what} found ${one}, expected ${other}`);
};
global.ok = (value, what = "not so") => {
  if (!value) throw new Error(what);
};
// A page does what a gesture asks a little later. `ok` and `equal` look at values that are in hand; what the page shows is
// waited for, by one of these.
/** Try a check until it passes; what it said last is told. */
global.eventually = async (check) => {
  for (const end = Date.now() + PATIENCE; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((done) => setTimeout(done, 30));
  }
};
/** Wait until something holds. */
global.until = (holds, what = "it never came") => eventually(async () => ok(await holds(), what));
/** Wait until what is read is what is expected. */
global.becomes = (read, expected, what) => eventually(async () => equal(await read(), expected, what));
/** Wait until the one element of a locator is seen. */
global.seen = (locator, what) => waited(locator, "visible", what);
/** Wait until nothing is seen of a locator. */
global.gone = (locator, what) => waited(locator, "hidden", what);
/** Wait until the page has done what was asked of it so far: before a look at what must not have come. */
global.settled = (tab) => tab.evaluate(() => window.tbgraph.scene().then(() => undefined));

/** How many colours a canvas shows: looked at on a copy, since Chromium complains of a second look at a canvas itself. */
global.coloursOf = (canvas) =>
  canvas.evaluate((one) => {
    const copy = Object.assign(document.createElement("canvas"), { width: one.width, height: one.height }).getContext("2d");
    copy.drawImage(one, 0, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, one.width, one.height).data.buffer)).size;
  });

/** Choose the theme, the language, or on a phone a colouring, where the settings offer it. */
global.set = async (tab, name, value) => {
  const summary = tab.locator("summary").and(tab.getByLabel(/^(Settings|설정)$/));
  await summary.click();
  await tab.getByRole("combobox", { name, exact: true }).selectOption(value);
  await summary.click();
};

/** What a gesture saves. */
global.saved = async (tab, gesture) => {
  const [file] = await Promise.all([tab.waitForEvent("download"), gesture()]);
  return { name: file.suggestedFilename(), data: fs.readFileSync(await file.path()) };
};

/** Wait for a state of a locator. */
async function waited(locator, state, what = "") {
  await locator.waitFor({ state }).catch((error) => {
    throw new Error(`${what} ${error.message}`);
  });
}

for (const one of suites) {
  suite = path.basename(one);
  require(path.resolve(one));
}

/** Open a page of the folder and wait for its first picture. */
async function opened(tab, file, hash = "") {
  await tab.goto(`file://${path.join(folder, file)}${hash ? `#${hash}` : ""}`);
  await tab.evaluate(() => window.tbgraph.ready);
  return tab;
}

async function once(browser, { name, run, options: { alone, ...options } }) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    reducedMotion: "reduce",
    acceptDownloads: true,
    ...options,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const tab = await context.newPage();
  const faults = [];
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  tab.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  tab.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  context.setDefaultTimeout(PATIENCE);
  if (SLOWDOWN > 1) await (await context.newCDPSession(tab)).send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  try {
    await run({ tab, page: (file, hash) => opened(tab, file, hash), context, folder });
  } catch (error) {
    faults.unshift(String(error.stack || error).slice(0, 1500));
  }
  await context.close();
  return [name, faults];
}

async function main() {
  const args = ["--no-sandbox", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: process.env.TBGRAPH_BROWSER_PATH, args, timeout: 4 * PATIENCE });
  const asked = tests.filter((one) => !wanted || wanted.has(one.name));
  const [alone, queue] = [asked.filter((one) => one.options.alone), asked.filter((one) => !one.options.alone)];
  const results = [];
  const work = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) results.push(await once(browser, one));
  };
  await Promise.all(Array.from({ length: ABREAST }, work));
  for (const one of alone) results.push(await once(browser, one)); // what shares the clipboard
  await browser.close();
  process.stdout.write(JSON.stringify(results));
}
main();
