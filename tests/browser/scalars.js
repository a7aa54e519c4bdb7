// The scalars of a log in the page of a file: runs, cards, axes, exact values, and an address for all of it.

const shown = async (tab) => {
  await tab.evaluate(() => window.tbgraph.ready);
  await seen(tab.getByRole("figure").first());
  return tab;
};
const figure = (tab, name) => tab.getByRole("figure", { name: new RegExp(`^${name}(:|$)`) });
/** Wait until the lines of a chart are drawn: then it says their last values, and answers to the pointer. */
const drawn = (tab, name) => seen(tab.getByRole("figure", { name: new RegExp(`^${name}: .*last values`) }));
const picture = (tab, name) => figure(tab, name).locator("canvas").evaluate((canvas) => canvas.toDataURL());
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));

test("tabs lead from the graph to the scalars and back", async ({ page }) => {
  const tab = await page("log.html");
  await seen(tab.getByRole("tab", { name: "Graph", selected: true }));
  await tab.getByRole("tab", { name: "Scalars", exact: true }).click();
  await seen(tab.getByRole("tab", { name: "Scalars", selected: true }));
  await seen(figure(tab, "acc/train"));
  await tab.keyboard.press("1");
  await seen(tab.getByRole("tab", { name: "Graph", selected: true }));
  await tab.keyboard.press("2");
  await until(async () => (await hash(tab)).includes("page=scalar"), "the address");
});

test("a figure says its runs and last values", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await until(async () => /^acc\/train: 2 runs, last values \S+ \S+, \S+ \S+$/.test(await figure(tab, "acc/train").getAttribute("aria-label")));
});

test("runs are filtered by a regular expression, and a bad one is named", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  const runs = tab.getByRole("group", { name: "Runs" }).getByRole("checkbox");
  await becomes(() => runs.count(), 2);
  const filter = tab.getByRole("searchbox", { name: /Filter runs/ });
  await filter.fill("second");
  await becomes(() => runs.count(), 1);
  await until(async () => /1 runs/.test(await figure(tab, "acc/train").getAttribute("aria-label")));
  await filter.fill("second(");
  await seen(tab.getByText("Not a valid regular expression"));
  await becomes(() => runs.count(), 1);
  await filter.fill("");
  await becomes(() => runs.count(), 2);
});

test("a run is taken away and shown alone", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await tab.getByRole("checkbox", { name: /first/ }).uncheck();
  await until(async () => /: 1 runs, last values second/.test(await figure(tab, "acc/train").getAttribute("aria-label")));
  await until(async () => (await hash(tab)).includes("runs=second"));
  await tab.getByText("first", { exact: true }).dblclick();
  await until(async () => /: 1 runs, last values first/.test(await figure(tab, "acc/train").getAttribute("aria-label")));
});

/** The fewest digits that mean the same 32-bit float. */
const shortest = (value) => [...Array(9).keys()].map((digits) => String(Number(value.toPrecision(digits + 1)))).find((word) => Math.fround(Number(word)) === value) ?? String(value);

test("the tooltip has exact values, nearest first", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar&smooth=0"));
  const [line] = await tab.evaluate(() => window.tbgraph.series("acc/train"));
  await drawn(tab, "acc/train");
  await figure(tab, "acc/train").locator("canvas").hover({ position: { x: 60, y: 80 } });
  const tip = tab.getByRole("tooltip").locator("table");
  await seen(tip);
  await until(async () => {
    const text = await tip.textContent();
    return line.values.slice(0, 5).some((value) => text.includes(shortest(value)));
  }, "the exact value");
});

test("smoothing, axes and logarithms by key are kept in the address", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await drawn(tab, "loss");
  const before = await picture(tab, "loss");
  await figure(tab, "loss").focus();
  await tab.keyboard.press("y");
  await seen(tab.getByRole("checkbox", { name: "log y", checked: true }));
  await until(async () => (await picture(tab, "loss")) !== before, "the chart is another");
  await tab.keyboard.press("x");
  await becomes(() => tab.getByRole("combobox", { name: "Axis" }).inputValue(), "relative");
  await tab.keyboard.press("s");
  await tab.keyboard.press("ArrowRight");
  await until(async () => /smooth=0\.61.*axis=relative.*log=y/.test(await hash(tab)), "the address");
  const kept = await hash(tab);
  await tab.reload();
  await shown(tab);
  await seen(tab.getByRole("checkbox", { name: "log y", checked: true }));
  await becomes(() => hash(tab), kept);
});

test("dragging zooms and a double click fits", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  const canvas = figure(tab, "loss").locator("canvas");
  await drawn(tab, "loss");
  await tab.mouse.move(5, 5);
  const whole = await picture(tab, "loss");
  const box = await canvas.boundingBox();
  await tab.mouse.move(box.x + 120, box.y + 60);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 220, box.y + 60, { steps: 4 });
  await tab.mouse.up();
  await tab.mouse.move(5, 5);
  await until(async () => (await picture(tab, "loss")) !== whole, "it zooms");
  await canvas.dblclick({ position: { x: 150, y: 60 } });
  await tab.mouse.move(5, 5);
  await becomes(() => picture(tab, "loss"), whole, "it fits");
});

test("a table and a file have every value", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  const [first] = await tab.evaluate(() => window.tbgraph.series("loss"));
  const menu = figure(tab, "loss").getByLabel("More");
  await menu.click();
  await figure(tab, "loss").getByRole("button", { name: "Show as table" }).click();
  await seen(figure(tab, "loss").getByRole("cell", { name: String(first.values.at(-1)), exact: true }).first());
  await menu.click();
  const file = await saved(tab, () => figure(tab, "loss").getByRole("button", { name: "Download CSV" }).click());
  const rows = file.data.toString().trim().split("\r\n");
  equal(file.name, "loss.csv");
  equal(rows[0], "run,tag,step,wall_time,value,superseded");
  ok(rows.some((row) => row.startsWith(`first,loss,${first.steps.at(-1)},`) && row.includes(`,${first.values.at(-1)},`)), rows[1]);
});

test("a card is pinned, comes first, and is saved as a picture", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await figure(tab, "loss").focus();
  await tab.keyboard.press("p");
  await seen(tab.getByRole("button", { name: /^Pinned/ }));
  await until(async () => (await tab.getByRole("figure").first().getAttribute("data-tag")) === "loss", "it is the first");
  await until(async () => (await hash(tab)).includes("pin=loss"));
  await figure(tab, "loss").getByLabel("More").click();
  const file = await saved(tab, () => figure(tab, "loss").getByRole("button", { name: "Save SVG" }).click());
  ok(/<svg[^>]*>.*<path/s.test(file.data.toString()), "an SVG");
});

test("tags are filtered, and groups fold", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await tab.getByRole("searchbox", { name: /Filter tags/ }).fill("^acc");
  await becomes(() => tab.getByRole("figure").count(), 2);
  await tab.getByRole("button", { name: /^acc/, expanded: true }).click();
  await becomes(() => tab.getByRole("figure").count(), 0);
});

test("a log without a graph shows its scalars at once", async ({ page }) => {
  const tab = await shown(await page("log_alone.html"));
  await gone(tab.getByRole("tablist"));
  await set(tab, "Theme", "dark");
  await becomes(() => tab.evaluate(() => document.documentElement.dataset.theme), "dark");
});

test("on a phone nothing is cut at the side", async ({ page }) => {
  const tab = await shown(await page("log.html", "page=scalar"));
  await until(async () => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits");
  await eventually(async () => {
    const box = await figure(tab, "loss").boundingBox();
    ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  });
}, { viewport: { width: 390, height: 800 }, hasTouch: true });

test("hostile names of runs and tags are text", async ({ page }) => {
  const tab = await shown(await page("log_hostile.html", "page=scalar"));
  await until(async () => (await tab.getByRole("figure").count()) > 0);
  await becomes(() => tab.evaluate(() => String(window.hacked)), "undefined");
});
