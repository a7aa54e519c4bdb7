// What somebody who uses TensorBoard every day does with a log, and how many actions it takes: a click, a drag, a pointer
// laid somewhere, or a field filled is one. Beside each task is what TensorBoard 2.21 takes (Time Series and HParams).

const card = (tab, tag) => tab.locator(`[data-tag="${tag}"]`);
const runs = (tab) => tab.locator(".run-list").getByRole("checkbox");
const drawn = (tab, tag) => tab.evaluate(async (name) => (await window.tbgraph.series(name)).map(({ run }) => run), tag);
const figures = (tab) => tab.getByRole("figure").evaluateAll((all) => all.map((one) => one.dataset.tag));
const menu = (tab, name) => tab.locator("summary").getByText(name, { exact: true });

/** Do a task, whose steps are functions, in at most as many actions as TensorBoard takes; then look at what came of it. */
async function task(words, most, steps, check) {
  ok(steps.length <= most, `${words}: ${steps.length} actions, ${most} in TensorBoard`);
  for (const step of steps) await step();
  await check();
}

/** A place in the chart of a card, by shares of its width and height. */
async function placeIn(tab, tag, across, up) {
  const box = await card(tab, tag).locator("canvas").boundingBox();
  return [box.x + 52 + across * (box.width - 64), box.y + 10 + up * (box.height - 34)];
}

test("eight daily tasks take no more actions than in TensorBoard", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar");
  await becomes(async () => (await drawn(tab, "loss/train")).length, 6);
  await task("smooth the curves more", 1, [() => tab.getByRole("slider", { name: "Smoothing" }).fill("0.9")], () => until(() => tab.evaluate(() => location.hash.includes("smooth=0.9")), "the weight"));
  await task("show the tags of the validation alone", 1, [() => tab.getByRole("searchbox", { name: /Filter tags/ }).fill("valid")], () => becomes(() => figures(tab), ["loss/validation"]));
  await tab.getByRole("searchbox", { name: /Filter tags/ }).fill("");
  // TensorBoard: open the settings, choose how the tooltip is sorted, lay the pointer on the end of the curves.
  await task("which run has the least loss?", 3, [() => card(tab, "loss/train").getByLabel("More").click(), () => card(tab, "loss/train").getByRole("button", { name: /least/i }).click()], () => becomes(async () => (await tab.locator(".run-name").allTextContents())[0], "model_A/seed0"));
  await task("compare two of the six runs", 3, [() => tab.getByRole("checkbox", { name: "All runs" }).uncheck(), () => runs(tab).nth(0).check(), () => runs(tab).nth(1).check()], () => becomes(() => drawn(tab, "loss/train"), ["model_A/seed0", "model_A/seed1"]));
  const hover = async () => tab.mouse.move(...(await placeIn(tab, "loss/train", 0.5, 0.9)));
  await task("read a value and its step", 1, [hover], () => seen(tab.getByRole("tooltip").getByRole("cell", { name: /^(49|50)$/ }).first()));
  const drag = async () => {
    await tab.mouse.move(...(await placeIn(tab, "loss/train", 0.2, 0.5)));
    await tab.mouse.down();
    await tab.mouse.move(...(await placeIn(tab, "loss/train", 0.4, 0.5)), { steps: 4 });
    await tab.mouse.up();
  };
  await task("look at a part of a curve, and at all of it again", 2, [drag, () => card(tab, "loss/train").locator("canvas").dblclick()], async () => {
    await hover();
    await seen(tab.getByRole("tooltip").getByRole("cell", { name: /^(49|50)$/ }).first());
  });
  // TensorBoard: the menu of the card, its entry, a run, and the format; each run is a file.
  let file = null;
  const download = async () => (file = await saved(tab, () => card(tab, "loss/train").getByRole("button", { name: "Download CSV" }).click()));
  await task("save the points of a chart", 4, [() => card(tab, "loss/train").getByLabel("More").click(), download], () => becomes(() => file.data.toString().trim().split("\r\n").length, 201));
  // TensorBoard: the tab, "Sort by" and its entry, "Direction" and its entry.
  const trials = await page("tabs.html", "page=scalar");
  const head = trials.getByRole("columnheader", { name: "Accuracy" }).getByRole("button");
  await task("which hyperparameters gave the best accuracy?", 5, [() => trials.getByRole("tab", { name: "HParams" }).click(), () => head.click(), () => head.click()], () => becomes(async () => (await trials.getByRole("table").getByRole("rowheader").first().textContent()).trim(), "trials/run3"));
});

test("three tasks that TensorBoard cannot do", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  await becomes(async () => (await drawn(tab, "loss/train")).length, 6);
  await task("the mean of the seeds of each model", 2, [() => menu(tab, "Group runs").click(), () => tab.getByRole("combobox", { name: "Group runs" }).selectOption("differs")], () => becomes(() => drawn(tab, "loss/train"), ["model_A/seed* · 3 runs", "model_B/seed* · 3 runs"]));
  await menu(tab, "Group runs").click();
  await task("train and validation in one chart", 1, [() => card(tab, "loss/train").getByRole("heading").dragTo(card(tab, "loss/validation").locator(".plot"))], () => until(async () => (await figures(tab)).length === 3, "a chart of both"));
  const step = tab.getByRole("spinbutton", { name: "Values at step" });
  await task("the values of all runs at a step", 2, [() => step.fill("50"), () => step.press("Enter")], () => seen(tab.getByRole("table", { name: "Values at step 50" })));
});
