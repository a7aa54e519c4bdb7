// A training step with one slow op, at the page of a server: `node profile.js`. Each task starts where the one before it ended.
const { execFileSync } = require("node:child_process");
const { LOGS, PYTHON, ROOT, end, faults, ok, opened, run, serve, shot, test, until } = require("./browser.js");

async function main() {
  const { browser, tab } = await opened({ width: 1440, height: 900 });
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  const address = await serve("0");
  await tab.goto(`${address}#theme=${process.env.THEME || "light"}`);
  await tab.evaluate(() => window.tbgraph.ready);
  const page = tab.locator(".profile");
  const table = page.locator(".op-table");
  const card = tab.getByRole("complementary", { name: "Details" });
  const timeline = page.getByRole("group", { name: "Timeline" });
  const state = () => tab.evaluate(() => window.tbgraph.state());
  const marks = page.getByText(/Slices: .* together/);

  await test("1: how long does the step take, and does it wait for data?", async () => {
    await tab.getByRole("tab", { name: "Profile" }).click();
    await page.getByText("step1 took").waitFor(); // the first that has time
    await page.getByRole("combobox", { name: "Traced step" }).selectOption({ index: 1 });
    await page.getByText("step2 took").waitFor();
    await page.getByRole("img", { name: /compute 8.*, waits for input 1/ }).first().waitFor();
    await until(async () => (await page.getByRole("group", { name: "Step times" }).getByRole("button").count()) === 2, "no times of both steps");
    await shot(tab);
  });

  await test("2: which op is slow, and where is it in the graph?", async () => {
    const first = table.getByRole("row").nth(1);
    await until(async () => /encoder\/block_2\/MatMul/.test(await first.textContent()), "the slow op is not first");
    await first.getByRole("button", { name: /^Show in graph/ }).click();
    await card.getByRole("heading", { name: "encoder/block_2/MatMul", exact: true }).waitFor();
    await until(async () => (await state()).select === "encoder/block_2/MatMul" && (await state()).colour === "compute-time", "not chosen, or not coloured by time");
    await until(async () => /420 µs/.test(await tab.locator('#picture .node[data-name="encoder/block_2/MatMul"]').textContent()), "not the time of this step");
    await shot(tab);
  });

  await test("3: when did a node run?", async () => {
    await tab.evaluate(() => window.tbgraph.select("encoder/block_1"));
    await card.getByRole("button", { name: "Show in timeline" }).click();
    await marks.waitFor();
    await until(async () => /^encoder\/block_1: Slices: 2/.test(await marks.textContent()), "its slices are not marked");
    await page.getByRole("region", { name: "Details" }).getByRole("heading", { name: /encoder\/block_1/ }).waitFor();
    await shot(tab);
  });

  await test("4: zoom, pan and fit by the keyboard, and what is drawn is little", async () => {
    const view = async () => (await state()).pview ?? "";
    await timeline.focus();
    await timeline.press("w");
    await until(async () => (await view()) !== "", "no zoom");
    const near = await view();
    await timeline.press("d");
    await until(async () => (await view()) !== near, "no pan");
    await timeline.press("0");
    await until(async () => (await view()) === "", "it does not fit");
  });

  await test("5: search slices, and look at one in the graph", async () => {
    await page.getByRole("searchbox", { name: "Search slices" }).fill("iterator");
    await until(async () => /^Slices: 1 /.test(await marks.textContent().catch(() => "")), "no mark");
    await page.getByRole("searchbox", { name: "Search slices" }).press("Enter");
    const detail = page.getByRole("region", { name: "Details" });
    await detail.getByRole("heading", { name: "input/IteratorGetNext" }).waitFor();
    await detail.getByRole("button", { name: "Show in graph", exact: true }).click();
    await until(async () => (await state()).select === "input/IteratorGetNext", "not chosen");
  });

  await test("6: by layer, sorted, filtered, and compared with the step before", async () => {
    await tab.getByRole("tab", { name: "Profile" }).click();
    await page.getByRole("combobox", { name: "By" }).selectOption({ label: "layer or group" });
    await table.getByRole("button", { name: "Total" }).click();
    await until(async () => /whole graph/.test(await table.getByRole("row").nth(1).textContent()), "the whole is not first");
    await page.getByRole("searchbox", { name: "Filter the table" }).fill("block_2");
    await until(async () => (await table.getByRole("row").count()) === 2, "the filter");
    await page.getByRole("combobox", { name: "Compare with" }).selectOption({ label: "run · step1" });
    await until(async () => /\+3\d\d µs/.test(await table.getByRole("row").nth(1).textContent()), "no difference");
    await shot(tab);
  });

  await test("7: a link shows the same", async () => {
    await until(() => ["pstep=", "pagainst=", "pby=", "ptext=block_2"].every((part) => tab.url().includes(part)), "the address does not say what is shown");
    const link = tab.url();
    const other = await tab.context().newPage();
    await other.goto(link);
    await other.evaluate(() => window.tbgraph.ready);
    await until(async () => (await other.locator(".op-table tbody tr").count()) === 1 && /\+3\d\d µs/.test(await other.locator(".op-table").textContent()), "another table");
    await other.close();
  });

  await test("8: on a phone nothing is wider than the screen", async () => {
    await tab.setViewportSize({ width: 390, height: 800 });
    await until(() => tab.evaluate(() => document.documentElement.scrollWidth <= 390 && document.querySelector("#log-page").scrollWidth <= document.querySelector("#log-page").clientWidth + 1), "it is wider");
    await shot(tab);
    ok(await tab.evaluate(() => window.hacked === undefined), "a name was run");
  });

  await test("9: the same in one file, without a server", async () => {
    const file = `${LOGS}/run.html`;
    execFileSync(PYTHON, ["-m", "graphviz_tb", "render", LOGS, "-o", file, "-q"], { cwd: ROOT });
    await tab.setViewportSize({ width: 1440, height: 900 });
    await tab.goto(`file://${file}#page=profile`);
    await tab.evaluate(() => window.tbgraph.ready);
    await page.getByRole("combobox", { name: "Traced step" }).selectOption({ index: 1 });
    await until(async () => /encoder\/block_2\/MatMul/.test(await table.getByRole("row").nth(1).textContent()), "the slow op is not first");
    await table.getByRole("button", { name: "Show in timeline: encoder/block_2/MatMul" }).click();
    await until(async () => /Slices: 1 /.test(await marks.textContent().catch(() => "")), "its slice is not marked");
    await shot(tab);
    await table.getByRole("button", { name: "Show in graph: encoder/block_2/MatMul" }).click();
    await until(async () => (await state()).select === "encoder/block_2/MatMul", "not chosen");
    await tab.locator("#card").getByRole("button", { name: "Show in timeline" }).click();
    await until(async () => /encoder\/block_2\/MatMul: Slices: 1/.test(await marks.textContent().catch(() => "")), "its slice is not marked again");
  });

  await browser.close();
  await end("SIGINT");
}

run(main);
