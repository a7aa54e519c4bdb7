// A legend that answers: which boxes a row speaks of, only these, and a way back when nothing is in view.

const legend = (tab) => tab.getByRole("region", { name: "Legend" });
const classed = (tab, word) => tab.locator(`g.node.closed.${word}`).evaluateAll((all) => all.map((one) => one.dataset.name).sort());

test("a row of the legend rings its boxes, and keeps only them", async ({ tab, page }) => {
  await page("steps.html");
  const row = legend(tab).getByRole("button", { name: /^convolution/ });
  await row.hover();
  await becomes(() => classed(tab, "keyed"), ["conv1", "conv2"]);
  const places = await tab.evaluate(() => window.tbgraph.scene());
  await row.click();
  await becomes(() => row.getAttribute("aria-pressed"), "true");
  await until(async () => {
    const faded = await classed(tab, "faded");
    return faded.includes("fc1") && !faded.includes("conv1") && !faded.includes("conv2");
  }, "all others stand back");
  await row.click();
  await becomes(() => classed(tab, "faded"), []);
  await row.press("Enter");
  await until(async () => (await classed(tab, "faded")).includes("fc1"), "by keyboard");
  await tab.keyboard.press("Escape");
  await becomes(() => classed(tab, "faded"), []);
  // By a number: boxes whose value is nearest to the one that the row names.
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("compute-time");
  const least = legend(tab).getByRole("button", { name: /^0 / });
  await least.hover();
  await until(async () => (await classed(tab, "keyed")).length > 0, "boxes of little time");
  await until(async () => !(await classed(tab, "keyed")).includes("train"), "not the largest");
  await least.click();
  await until(async () => (await classed(tab, "faded")).includes("train"), "kept");
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("structure");
  await becomes(() => classed(tab, "faded"), [], "another colouring keeps all");
  await becomes(async () => JSON.stringify((await tab.evaluate(() => window.tbgraph.scene())).boxes.map((box) => [box.x, box.y])), JSON.stringify(places.boxes.map((box) => [box.x, box.y])));

  // Where nothing is in view there is a way back; the minimap is quiet while all is seen.
  const quiet = () => tab.getByRole("img", { name: "Minimap" }).evaluate((one) => getComputedStyle(one).opacity);
  await tab.keyboard.press("Escape");
  await tab.getByRole("button", { name: "Fit" }).click();
  await becomes(quiet, "0");
  const back = tab.getByRole("button", { name: "Back to the graph" });
  await gone(back);
  await tab.evaluate(() => window.tbgraph.state({ at: "90000,0,500" }));
  await seen(back);
  await becomes(quiet, "1");
  await back.click();
  await gone(back);
  await seen(tab.locator('g.node[data-name="conv1"]'));
});
