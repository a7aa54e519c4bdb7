// What tests share that look at the page of a server: the server, a tab that notes what goes wrong, waiting, results.
const { chromium } = require("playwright-core");
const { spawn } = require("node:child_process");
const fs = require("node:fs");

const { PYTHON, ROOT, LOGS, SHOTS, TBGRAPH_BROWSER_PATH } = process.env;
const PATIENCE = 60_000; // milliseconds
const results = [];
const faults = [];
let server = null;
let shots = 0;

/** Start a server; its address. @param {string} port @returns {Promise<string>} */
function serve(port) {
  server = spawn(PYTHON, ["-m", "graphviz_tb", "serve", LOGS, "--port", port, "-q"], { cwd: ROOT });
  return new Promise((done, failed) => {
    server.stdout.once("data", (data) => done(String(data).split("\n")[0]));
    server.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
  });
}

/** End it. @param {string} signal */
function end(signal) {
  return new Promise((done) => {
    server.removeAllListeners("exit");
    server.once("exit", done);
    server.kill(signal);
  });
}

const ok = (value, what) => {
  if (!value) throw new Error(what);
};

/** Wait until something holds. */
async function until(holds, what) {
  for (const last = Date.now() + PATIENCE; Date.now() < last; ) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(what);
}

async function test(name, run) {
  faults.length = 0;
  try {
    await run();
  } catch (error) {
    faults.push(String(error.stack || error).slice(0, 1500));
  }
  results.push([name, [...faults]]);
}

/** A tab of a browser. @param {{width: number, height: number}} size */
async function opened(size) {
  const browser = await chromium.launch({ executablePath: TBGRAPH_BROWSER_PATH, args: ["--no-sandbox", "--disable-gpu"], timeout: 2 * PATIENCE });
  const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE);
  return { browser, context, tab: await context.newPage() };
}

/** Keep a picture of a tab, where a folder for them is given. */
const shot = async (tab) => SHOTS && fs.writeFileSync(`${SHOTS}/${shots++}.png`, await tab.screenshot());

/** Run all, and write the results. @param {() => Promise<void>} main */
const run = (main) =>
  main().then(
    () => process.stdout.write(JSON.stringify(results)),
    (error) => {
      process.stdout.write(JSON.stringify([...results, ["the whole", [String(error.stack), ...faults]]]));
      server?.kill("SIGKILL");
      process.exit(0);
    },
  );

module.exports = { LOGS, PATIENCE, PYTHON, ROOT, end, faults, ok, opened, results, run, serve, shot, test, until };
