// A person at the page of a server: `node person.js`, with the program and the folder of logs in the environment. Each test
// starts where the one before it ended; results are JSON on standard output.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const { LOGS, PYTHON, ROOT, end, faults, ok, opened, results, run, serve, shot: kept, test, until } = require("./browser.js");

const SIZE = { width: 1280, height: 800 };

/** Append a point to a run, as a training does. @param {string} run @param {number} step @param {number} loss */
const write = (run, step, loss) => execFileSync(PYTHON, ["-m", "tests.serve.writing", `${LOGS}/${run}`, String(step), String(loss)], { cwd: ROOT });

async function main() {
  const { browser, context, tab } = await opened(SIZE);
  let away = false; // the server was ended by the test
  // 409: a graph or trace that is still being read, which the page asks for again.
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && !away && !/status of 409/.test(message.text()) && faults.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  let address = await serve("0");
  const port = new URL(address).port;
  tab.on("request", (request) => new URL(request.url()).port !== port && !request.url().startsWith("blob:") && faults.push(`request: ${request.url()}`));
  const shot = () => kept(tab);
  const node = (name) => tab.locator(`#picture .node[data-name="${name}"]`);
  /** Close a group that the first picture shows open. @param {string} name */
  const close = async (name) => {
    await tab.evaluate((one) => window.tbgraph.close(one), name);
    await node(`${name}/a`).waitFor({ state: "detached" });
  };
  const points = (tag, run) => tab.evaluate(async ([one, other]) => (await window.tbgraph.series(one)).find((line) => line.run === other)?.steps.length ?? 0, [tag, run]);

  await test("the graph of the first run is there", async () => {
    await tab.goto(address);
    await tab.evaluate(() => window.tbgraph.ready);
    await tab.getByRole("tab", { name: "Graph" }).click();
    await node("m").waitFor();
    await shot();
  });

  await test("a group opens, and the address says so", async () => {
    await close("m");
    await node("m").dblclick();
    await node("m/a").waitFor();
    await until(() => tab.evaluate(() => decodeURIComponent(location.hash).includes("open=m")), "the address does not say what is open");
    await shot();
  });

  await test("a node is found, chosen, and its card says what leads to it", async () => {
    await tab.getByRole("searchbox", { name: "Find", exact: true }).fill("op:Relu");
    await tab.getByRole("listbox", { name: "Find" }).getByRole("option").first().waitFor();
    await tab.keyboard.press("Enter");
    await tab.getByRole("complementary", { name: "Details" }).getByRole("table", { name: "Inputs" }).waitFor();
    await shot();
    await tab.keyboard.press("Escape");
    await tab.keyboard.press("Escape");
  });

  await test("another run is chosen, and its graph is shown", async () => {
    await tab.getByRole("combobox", { name: "Run", exact: true }).selectOption("valid");
    await node("x").waitFor();
    await shot();
  });

  await test("a link shows what its sender saw", async () => {
    await until(() => tab.url().includes("run=valid"), "the address does not name the run");
    const link = tab.url();
    const guest = await context.newPage();
    await guest.goto(link);
    await guest.evaluate(() => window.tbgraph.ready);
    await guest.locator('#picture .node[data-name="x"]').waitFor();
    await guest.close();
  });

  await test("the view is saved as a file that needs no server", async () => {
    await tab.getByLabel("Share").click();
    const [file] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: "Save this view as HTML" }).click()]);
    ok(file.suggestedFilename().endsWith(".html"), file.suggestedFilename());
    const copy = `${LOGS}-view.html`;
    fs.copyFileSync(await file.path(), copy);
    const guest = await context.newPage();
    const asked = [];
    guest.on("request", (request) => request.url().startsWith("http") && asked.push(request.url()));
    await guest.goto(`file://${copy}`);
    await guest.evaluate(() => window.tbgraph.ready);
    await guest.locator('#picture .node[data-name="x"]').waitFor();
    ok(!asked.length, asked.join());
    await guest.close();
  });

  await test("two runs are compared", async () => {
    await tab.getByRole("combobox", { name: "Compare with" }).selectOption({ label: "train" });
    await tab.getByRole("list", { name: "Changes" }).waitFor();
    await shot();
    await tab.getByRole("combobox", { name: "Compare with" }).selectOption("");
    await tab.getByRole("list", { name: "Changes" }).waitFor({ state: "hidden" });
  });

  await test("a new point arrives in the chart", async () => {
    await tab.getByRole("tab", { name: "Scalars", exact: true }).click();
    await tab.getByRole("figure", { name: /^loss/ }).waitFor();
    await until(async () => (await points("loss", "train")) === 10, "the points that were there are not shown");
    write("train", 10, 0.25);
    const begun = Date.now();
    await until(async () => (await points("loss", "train")) === 11, "the point did not come");
    results.push([`seconds until a point was there: ${(Date.now() - begun) / 1000}`, []]);
    await shot();
  });

  await test("a new run arrives in the list", async () => {
    write("later", 0, 0.5);
    await tab.getByRole("group", { name: "Runs" }).getByText("later", { exact: true }).waitFor();
  });

  await test("a graph that comes while the page is open can be chosen", async () => {
    execFileSync(PYTHON, ["-m", "tests.serve.writing", `${LOGS}/later`, "graph", "p", "q"], { cwd: ROOT });
    await tab.getByRole("tab", { name: "Graph" }).click();
    await tab.locator('#run option[value="later"]').waitFor({ state: "attached" });
    await tab.getByRole("combobox", { name: "Run", exact: true }).selectOption("later");
    await node("p").waitFor();
  });

  await test("a server that is started again under an open page: the view stays, and new points come", async () => {
    await tab.getByRole("combobox", { name: "Run", exact: true }).selectOption("train");
    await node("m").waitFor();
    await close("m");
    away = true;
    await end("SIGKILL");
    await tab.getByRole("status").getByText("not live").waitFor();
    await shot();
    write("early", 0, 0.5); // the numbers of all that follows are others then
    address = await serve(port);
    await tab.getByRole("status").getByText("live", { exact: true }).waitFor();
    // Until the new server has read all runs, it does not know what the page asks for.
    await tab.locator('#run option[value="train"]').waitFor({ state: "attached" });
    away = false;
    write("train", 11, 0.2);
    await until(async () => (await points("loss", "train")) === 12, "the point did not come"); // all else came before it
    await node("m").waitFor();
    ok((await node("m/a").count()) === 0, "the group that was closed is open");
    ok((await tab.getByRole("combobox", { name: "Run", exact: true }).inputValue()) === "train", "another run is shown");
    await shot();
  });

  await test("by keyboard alone: pages, find, open", async () => {
    await tab.keyboard.press("2");
    await tab.getByRole("figure", { name: /^loss/ }).waitFor();
    await tab.keyboard.press("1");
    await node("m").waitFor();
    await tab.getByRole("tree", { name: /Graph of/ }).focus();
    await tab.keyboard.press("/");
    await tab.keyboard.type("m");
    await tab.keyboard.press("Enter");
    await tab.getByRole("complementary", { name: "Details" }).waitFor();
  });

  await test("images and histograms come while the page is open", async () => {
    const image = (step) => execFileSync(PYTHON, ["-m", "tests.serve.writing", `${LOGS}/valid`, "image", String(step)], { cwd: ROOT });
    image(1);
    await tab.getByRole("tab", { name: "Images" }).click();
    const card = tab.getByRole("figure", { name: /^picture, valid: Step/ });
    await until(() => card.locator("img").evaluate((one) => one.naturalWidth === 2), "no image");
    image(2);
    await until(async () => /Step 2/.test(await card.getByRole("slider").getAttribute("aria-valuetext")), "the second image did not come");
    await tab.getByRole("tab", { name: "Histograms" }).click();
    await tab.getByRole("figure", { name: /^weights, valid: 2 steps, range / }).waitFor();
    await shot();
  });

  await test("charts that a training laid out itself come, with the lines of all their tags", async () => {
    execFileSync(PYTHON, ["-m", "tests.serve.writing", `${LOGS}/valid`, "layout"], { cwd: ROOT });
    await tab.getByRole("tab", { name: "Custom scalars" }).click();
    await tab.getByRole("figure", { name: /^mine\/both: 5 runs, last values early · loss 0.5, later · loss 0.5, test · loss/ }).waitFor();
    await shot();
  });

  await test("a damaged file is said, with its run; and that the whole log is gone, until it is back", async () => {
    const notices = tab.getByRole("group").filter({ has: tab.getByLabel(/^Notices: /) });
    write("damaged", 0, 0.5);
    fs.appendFileSync(`${LOGS}/damaged/${fs.readdirSync(`${LOGS}/damaged`)[0]}`, Buffer.alloc(64, 7));
    await tab.getByLabel("Notices: 1").click();
    await notices.getByText(/^damaged: .*the length of a record is damaged/).waitFor();
    fs.renameSync(LOGS, `${LOGS}-away`);
    await notices.getByText(/^no file or folder/).waitFor();
    await tab.getByRole("group", { name: "Runs" }).getByText("gone").first().waitFor({ state: "attached" });
    await shot();
    fs.renameSync(`${LOGS}-away`, LOGS);
    await notices.getByText(/^no file or folder/).waitFor({ state: "detached" });
    await tab.getByLabel("Notices: 1").click();
  });

  await test("on a small laptop that is four times as slow: every tab in sight, a group opens, a point comes, a zoom is drawn", async () => {
    const slow = await context.newCDPSession(tab);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await tab.setViewportSize({ width: 1024, height: 768 });
    await tab.getByRole("tab", { name: "Graph" }).click();
    await node("m").waitFor();
    await until(() => tab.getByRole("tablist").evaluate((tabs) => tabs.scrollWidth <= tabs.clientWidth), "a tab is cut");
    await until(() => tab.locator("#bar").evaluate((bar) => bar.scrollWidth <= bar.clientWidth), "the bar is cut");
    await node("m").dblclick();
    await node("m/a").waitFor();
    await shot();
    await tab.getByRole("tab", { name: "Scalars", exact: true }).click();
    const card = tab.getByRole("figure", { name: /^loss/ });
    const canvas = card.locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const [had, drawn] = [await points("loss", "train"), () => canvas.evaluate((one) => one.toDataURL())];
    write("train", 12, 0.1);
    await until(async () => (await points("loss", "train")) === had + 1, "the point did not come");
    const before = await drawn();
    await canvas.hover();
    await tab.keyboard.down("Control");
    for (let turn = 0; turn < 10; turn++) await tab.mouse.wheel(0, -60);
    await tab.keyboard.up("Control");
    await until(async () => (await drawn()) !== before, "the zoom is not drawn");
    await shot();
    await canvas.dblclick();
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await slow.detach();
  });

  await test("in the dark, and on a phone", async () => {
    await tab.getByLabel("Settings", { exact: true }).click();
    await tab.getByRole("combobox", { name: "Theme" }).selectOption("dark");
    await tab.keyboard.press("Escape");
    await until(() => tab.evaluate(() => document.documentElement.dataset.theme === "dark"), "it is not dark");
    await shot();
    await tab.setViewportSize({ width: 390, height: 800 });
    await tab.getByRole("tab", { name: "Scalars", exact: true }).click();
    await tab.getByRole("figure", { name: /^loss/ }).waitFor();
    const fits = () => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    await until(fits, "the page is wider than the window");
    await shot();
    await tab.getByRole("tab", { name: "Graph" }).click();
    await node("m").waitFor();
    await until(fits, "the page is wider than the window");
    await shot();
  });

  await browser.close();
  await end("SIGINT");
}
run(main);
