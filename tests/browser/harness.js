// Runs tests of a page in a real browser: `node harness.js SUITE PAGES_FOLDER`. Each test has a fresh tab; afterwards it
// must have asked for nothing, logged no error, and broken no policy. Results are JSON on standard output.
const { chromium } = require("playwright-core");
const path = require("node:path");

const [, , suite, folder, wanted] = process.argv;
const tests = [];
global.test = (name, run, options = {}) => tests.push({ name, run, options });
global.equal = (found, expected, what = "") => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what} found ${one}, expected ${other}`);
};
global.ok = (value, what = "not so") => {
  if (!value) throw new Error(what);
};
/** Wait until something holds. */
global.until = async (holds, what = "it never came", milliseconds = 8000) => {
  const end = Date.now() + milliseconds;
  for (;;) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(what);
    await new Promise((done) => setTimeout(done, 30));
  }
};
require(path.resolve(suite));

/** Open a page of the folder and wait for its first picture. */
async function opened(tab, file, hash = "") {
  await tab.goto(`file://${path.join(folder, file)}${hash ? `#${hash}` : ""}`);
  await tab.evaluate(() => window.tbgraph.ready);
  return tab;
}

async function once(browser, { name, run, options }) {
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
  tab.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  tab.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  tab.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  tab.setDefaultTimeout(8000);
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
  const browser = await chromium.launch({ executablePath: process.env.TBGRAPH_BROWSER_PATH, args });
  const results = [];
  for (const one of tests) if (!wanted || one.name.includes(wanted)) results.push(await once(browser, one));
  await browser.close();
  process.stdout.write(JSON.stringify(results));
}
main();
