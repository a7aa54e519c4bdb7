// Seconds from a command to the first chart in its page: `node first_chart.js READY PAGE SHOWN COMMAND…`; one line of JSON.
//
// READY is a pattern of the address that the command prints; PAGE is what is added to it. SHOWN is an expression that is true
// in the page when the chart has all its lines. The browser runs before the command starts.
const { chromium } = require("playwright-core");
const { spawn } = require("node:child_process");

const [, , ready, page, shown, command, ...words] = process.argv;
const { RUNS, SHOT, TBGRAPH_BROWSER_PATH } = process.env;
const PATIENCE = 300; // seconds

async function main() {
  const browser = await chromium.launch({ executablePath: TBGRAPH_BROWSER_PATH, args: ["--no-sandbox", "--disable-gpu"] });
  const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const begun = Date.now();
  const seconds = () => (Date.now() - begun) / 1000;
  const server = spawn(command, words);
  try {
    let told = "";
    const address = await new Promise((found, failed) => {
      const hear = (data) => {
        told += data;
        const there = new RegExp(ready).exec(told);
        if (there) found(there[0]);
      };
      server.stdout.on("data", hear);
      server.stderr.on("data", hear);
      server.once("exit", () => failed(new Error(told)));
    });
    const listening = seconds();
    // TensorBoard's page does not see runs that come while it is open: it is opened when all are there.
    const listed = () => fetch(`${address}data/runs`).then((answer) => answer.json());
    while (RUNS && (await listed().catch(() => [])).length < Number(RUNS)) await new Promise((done) => setTimeout(done, 50));
    await tab.goto(address + page);
    while (seconds() < PATIENCE && !(await tab.evaluate(shown))) await new Promise((done) => setTimeout(done, 50));
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    console.log(JSON.stringify([listening, seconds()]));
    if (SHOT) await tab.screenshot({ path: SHOT });
  } finally {
    server.removeAllListeners("exit");
    server.kill("SIGINT");
    await browser.close();
  }
}
main();
