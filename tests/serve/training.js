// Someone who knows TensorBoard asks eight things of a training, at the page of a server: `node training.js`. Each task starts
// where the one before it ended.
const { end, faults, ok, opened, run, serve, shot, test, until } = require("./browser.js");

async function main() {
  const { browser, tab } = await opened({ width: 1440, height: 900 });
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && !/status of 400/.test(message.text()) && faults.push(`console: ${message.text()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  const address = await serve("0");
  await tab.goto(`${address}#theme=${process.env.THEME || "light"}`);
  await tab.evaluate(() => window.tbgraph.ready);
  const node = (name) => tab.locator(`#picture .node[data-name="${name}"]`);
  const card = tab.getByRole("complementary", { name: "Details" });
  const logged = card.getByRole("region", { name: "Logged" });
  const bar = tab.getByRole("group", { name: "Logged" });
  const slider = bar.getByRole("slider", { name: "Step of what was logged" });
  const legend = tab.getByRole("region", { name: "Legend" });
  const says = (name, words) => until(async () => (await node(name).textContent()).includes(words), `${name} does not say ${words}`);
  const at = (words) => until(async () => (await slider.getAttribute("aria-valuetext")) === words, `the slider is not at ${words}`);
  const press = (key) => tab.locator("#picture").press(key);
  const places = () => tab.evaluate(async () => JSON.stringify((await window.tbgraph.scene()).boxes.map(({ name, x, y, width, height }) => [name, x, y, width, height])));
  const state = () => tab.evaluate(() => window.tbgraph.state());

  await test("1: what did this layer log?", async () => {
    await tab.evaluate(() => window.tbgraph.select("wide/dense_2"));
    await logged.getByRole("figure", { name: /^wide\/dense_2\/size: 1 runs, last values bad/ }).waitFor();
    await logged.getByRole("figure", { name: /^gradients\/wide\/dense_2\/kernel, bad: 10 steps/ }).waitFor();
    await shot(tab);
  });

  await test("2: which layer is this chart of?", async () => {
    await tab.getByRole("tab", { name: "Distributions" }).click();
    await tab.getByRole("figure", { name: /^gradients\/dead\/dense_3/ }).first().getByRole("button", { name: "Show in graph" }).click();
    await until(async () => /^dead\/dense_3/.test((await state()).select), "the layer is not chosen");
    await shot(tab);
  });

  await test("3: which layers have gradients that are NaN, and since when?", async () => {
    await tab.evaluate(() => window.tbgraph.select(null));
    await tab.getByRole("combobox", { name: "Colour by" }).selectOption("Logged");
    await says("wide/dense_4", "exploded since step 200");
    await says("head", "NaN since step 300");
    await tab.evaluate(() => window.tbgraph.open("head"));
    await says("head/dense_1", "NaN since step 300");
    await legend.getByText("Root mean square of gradients, run bad, step 450, log scale").waitFor({ state: "attached" });
    await shot(tab);
  });

  await test("4: what was it at an earlier step? Colours change, and nothing moves", async () => {
    const before = await places();
    await press("Home");
    await at("Step 0");
    await says("wide/dense_4", "≈");
    await shot(tab);
    for (let stop = 1; stop <= 5; stop++) await press(".");
    await at("Step 250");
    await says("head/dense_1", "≈");
    await press(".");
    await says("head/dense_1", "NaN since step 300");
    await press(",");
    await says("head/dense_1", "≈");
    await slider.press("End");
    await at("Step 450");
    ok((await places()) === before, "boxes moved");
  });

  await test("5: how did it come to that?", async () => {
    await press("Home");
    await at("Step 0");
    await press("l");
    await bar.getByRole("button", { name: "Play", pressed: true }).waitFor();
    await until(async () => Number(/\d+/.exec(await slider.getAttribute("aria-valuetext"))[0]) >= 100, "it does not play");
    await press("l");
    await bar.getByRole("button", { name: "Play", pressed: false }).waitFor();
    await says("dead/dense_3", "zero since step 100");
    await shot(tab);
  });

  await test("6: how large are the weights? And a pattern that fits nothing says so", async () => {
    await bar.getByRole("searchbox", { name: "Tags, such as grad/*" }).fill("weights/*");
    await tab.keyboard.press("Enter");
    await legend.getByText(/Root mean square of weights\/\*/).waitFor({ state: "attached" });
    await bar.getByRole("combobox", { name: "Measure" }).selectOption("norm");
    await legend.getByText(/^Norm of weights/).waitFor({ state: "attached" });
    await says("wide/dense_4", "≈\u20091");
    await bar.getByRole("searchbox").fill("<img src=x onerror=window.hacked=1>");
    await tab.keyboard.press("Enter");
    await bar.getByText(/no joined tag '<img/).waitFor();
    await legend.getByText(/^Norm of weights/).waitFor({ state: "attached" });
    ok((await tab.evaluate(() => window.hacked)) === undefined, "a pattern is markup");
    await shot(tab);
    await bar.getByRole("searchbox").fill("");
    await tab.keyboard.press("Enter");
    await bar.getByRole("combobox", { name: "Measure" }).selectOption("rms");
  });

  await test("7: is the other run better? And a link shows the same", async () => {
    await bar.getByRole("combobox", { name: "Compare with" }).selectOption("other");
    await legend.getByText(/against other/).waitFor({ state: "attached" });
    await slider.press("Home");
    await at("Step 0");
    await says("wide/dense_4", "× 1");
    const was = await places();
    await until(() => /logagainst=other.*logstep=0|logstep=0.*logagainst=other/.test(tab.url()), "the address does not say what is shown");
    const link = tab.url();
    await tab.goto("about:blank");
    await tab.goto(link);
    await says("wide/dense_4", "× 1");
    await at("Step 0");
    await legend.getByText(/against other/).waitFor({ state: "attached" });
    ok((await places()) === was, "another picture");
    await shot(tab);
  });

  await test("8: what did it see at that step?", async () => {
    await tab.getByRole("tab", { name: "Images" }).click();
    await tab.getByRole("figure", { name: /^activations\/head\/dense_1\/image, bad/ }).getByRole("button", { name: "Show in graph" }).click();
    await until(async () => (await logged.locator("img").count()) === 1, "no image at the layer");
    await until(() => logged.locator("img").evaluate((image) => image.naturalWidth === 2), "the image is not shown");
    await logged.getByText("by its name").first().waitFor();
    await shot(tab);
  });

  await browser.close();
  await end("SIGINT");
}
run(main);
