// Runs compared: groups of seeds, several tags in one chart, values at a step, colours that stay.

const fs = require("node:fs");
const path = require("node:path");

const figure = (tab, name) => tab.locator(`[data-tag="${name.replaceAll("\\", "\\\\")}"]`);
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));
const lines = (tab, tag) => tab.evaluate(async (name) => (await window.tbgraph.series(name)).map(({ run, steps, values }) => [run, steps.length, values[0]]), tag);
const menu = (tab, name) => tab.locator("summary").getByText(name, { exact: true });

test("seeds become one line a model with their mean, and the address keeps it", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  await becomes(async () => (await lines(tab, "loss/train")).length, 6);
  await menu(tab, "Group runs").click();
  await tab.getByRole("combobox", { name: "Group runs" }).selectOption("differs");
  await becomes(() => lines(tab, "loss/train"), [["model_A/seed* · 3 runs", 100, 1], ["model_B/seed* · 3 runs", 100, 11]]);
  await tab.getByRole("combobox", { name: "Spread" }).selectOption("range");
  await tab.getByRole("checkbox", { name: "Members" }).check();
  await becomes(async () => (await lines(tab, "loss/train")).length, 8, "groups and members");
  await tab.getByRole("checkbox", { name: "Members" }).uncheck();
  await tab.getByRole("combobox", { name: "Group runs" }).selectOption("pattern");
  await tab.getByRole("textbox", { name: /share/ }).fill("seed\\d");
  await becomes(() => lines(tab, "loss/train"), [["seed0 · 2 runs", 200, 0], ["seed1 · 2 runs", 200, 1], ["seed2 · 2 runs", 200, 2]]);
  await until(async () => /group=mean,range,pattern.*groupby=seed/.test(await hash(tab)), "the address");
  await tab.reload();
  await tab.evaluate(() => window.tbgraph.ready);
  await becomes(async () => (await lines(tab, "loss/train")).length, 3);
  const card = figure(tab, "loss/train");
  await card.getByLabel("More").click();
  const file = await saved(tab, () => card.getByRole("button", { name: "Download CSV" }).click());
  const rows = file.data.toString().trim().split("\r\n");
  equal(rows[0], "run,tag,step,value,low,high,runs");
  equal(rows[1], "seed0 · 2 runs,loss/train,0,0,0,0,1");
});

test("two tags are one chart by a pattern, and come apart", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  await menu(tab, "Together").click();
  const field = tab.getByRole("textbox", { name: /Tags in one chart/ });
  await field.fill("loss/.*");
  await field.press("Enter");
  await becomes(async () => (await lines(tab, "loss/.*")).length, 12);
  await until(async () => (await hash(tab)).includes("together=loss/.*"));
  await tab.reload();
  await tab.evaluate(() => window.tbgraph.ready);
  const card = figure(tab, "loss/.*");
  await seen(card.getByRole("heading", { name: "loss/train + loss/validation" }));
  await card.getByLabel("More").click();
  await card.getByRole("button", { name: "Take apart" }).click();
  await gone(card);
});

test("a card dragged onto another shows both", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  await figure(tab, "loss/train").getByRole("heading").dragTo(figure(tab, "loss/validation"));
  await seen(tab.getByRole("heading", { name: "loss/train + loss/validation" }));
});

test("a typed step lists the values of all runs there", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  await tab.getByRole("spinbutton", { name: "Values at step" }).fill("50");
  await tab.getByRole("spinbutton", { name: "Values at step" }).press("Enter");
  const table = tab.getByRole("table", { name: "Values at step 50" });
  await becomes(() => table.getByRole("row", { name: /model_A\/seed2/ }).getByRole("cell").allTextContents(), ["2", "3"]);
  await becomes(() => table.getByRole("row", { name: /model_B\/seed0/ }).getByRole("cell").allTextContents(), ["", ""], "it begins later");
  await until(async () => (await hash(tab)).includes("values=50"));
  await table.getByRole("button", { name: "loss/train" }).click();
  await table.getByRole("button", { name: "loss/train" }).click();
  await becomes(() => table.getByRole("rowheader").first().textContent(), " model_A/seed2");
});

test("an axis begins each run at its first step, and a wide file has a column a run", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0&axis=start");
  const card = figure(tab, "loss/train");
  await seen(tab.getByRole("figure", { name: /^loss\/train: .*last values/ }), "its lines");
  await card.locator("canvas").hover({ position: { x: 60, y: 80 } });
  await seen(tab.getByRole("tooltip").getByRole("cell", { name: "model_B/seed0" }));
  await card.getByLabel("More").click();
  const file = await saved(tab, () => card.getByRole("button", { name: /wide CSV/ }).click());
  const rows = file.data.toString().trim().split("\r\n");
  equal(rows[0], "step,model_A/seed0,model_A/seed1,model_A/seed2,model_B/seed0,model_B/seed1,model_B/seed2");
  equal([rows[1], rows.at(-1), rows.length], ["0,0,1,2,,,", "1099,,,,10,11,12", 201]);
});

test("runs are filtered and sorted by a value of a tag", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&smooth=0");
  const names = () => tab.locator(".run-name").allTextContents();
  await tab.getByRole("searchbox", { name: /Filter by a value/ }).fill("min(loss/train)>=10");
  await becomes(names, ["model_B/seed0", "model_B/seed1", "model_B/seed2"]);
  await becomes(async () => (await lines(tab, "loss/train")).length, 3);
  await tab.getByRole("searchbox", { name: /Filter by a value/ }).fill("");
  await figure(tab, "loss/train").getByLabel("More").click();
  await figure(tab, "loss/train").getByRole("button", { name: /Sort runs by its greatest/ }).click();
  await becomes(async () => (await names())[0], "model_B/seed2");
});

test("a colour that is picked stays, in the address too", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar&looks=model_A%2Fseed0:ff0000");
  const swatch = tab.getByRole("button", { name: "Colour of model_A/seed0" }).locator(".swatch");
  await becomes(() => swatch.evaluate((one) => getComputedStyle(one).backgroundColor), "rgb(255, 0, 0)");
  await until(async () => (await hash(tab)).includes("looks=model_A/seed0:ff0000"));
});

test("trials count all sessions, and what differs is listed", async ({ page }) => {
  const tab = await page("tabs.html", "page=hparams");
  await seen(tab.getByText("4 of 4 sessions"));
  await tab.getByRole("checkbox", { name: /trials\/run1\s*\d*$/ }).uncheck();
  await seen(tab.getByText("3 of 4 sessions · only those of chosen runs"));
  await tab.getByRole("button", { name: "What differs" }).click();
  const dialog = tab.getByRole("dialog", { name: "What differs" });
  await seen(dialog.getByRole("rowheader", { name: "optimizer" }));
  await dialog.getByRole("button", { name: "Close" }).click();
  await gone(dialog);
});

test("of a thousand tags those near are cards, and the filter and the way down reach all", async ({ page }) => {
  const tab = await page("many_tags.html");
  const count = () => tab.locator(".chart-card").count();
  await until(async () => (await count()) > 0);
  await until(async () => (await count()) < 200, "of those far away none is made");
  const tall = await tab.evaluate(() => document.getElementById("log-page").scrollHeight);
  ok(tall > 50_000, `${tall} px: there is room for all`);
  await tab.getByRole("searchbox", { name: /Filter tags/ }).fill("gauge_(7|999)$");
  await becomes(count, 2);
  await seen(figure(tab, "gauge_999"));
  await tab.getByRole("searchbox", { name: /Filter tags/ }).fill("");
  await until(async () => (await count()) > 2);
  await eventually(async () => {
    await tab.evaluate(() => document.getElementById("log-page").scrollTo(0, 1e9));
    await figure(tab, "gauge_999").waitFor({ timeout: 1000 });
  });
  await becomes(() => lines(tab, "gauge_500"), [["run", 3, 500]]);
});

test("keys act on the page that is shown, wherever the focus is", async ({ page }) => {
  const tab = await page("log.html", "page=scalar");
  await tab.getByRole("checkbox", { name: "Outliers" }).focus();
  await tab.keyboard.press("r");
  await until(() => tab.getByRole("searchbox", { name: /Filter runs/ }).evaluate((one) => one === document.activeElement), "the filter of runs");
  await until(async () => !(await hash(tab)).includes("table="), "the table of the hidden graph");
  await tab.getByRole("tab", { name: "Scalars" }).focus();
  await tab.keyboard.press("y");
  await seen(tab.getByRole("checkbox", { name: "log y", checked: true }));
  await tab.keyboard.press("?");
  await seen(tab.getByRole("dialog").getByText("Filter tags"));
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("t");
  await becomes(() => tab.evaluate(() => document.documentElement.dataset.theme), "dark");
});

test("keys, menus and saving work without a graph", async ({ page }) => {
  const tab = await page("seeds.html", "page=scalar");
  await tab.keyboard.press("?");
  await seen(tab.getByRole("dialog").getByText("Filter tags"));
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("t");
  await becomes(() => tab.evaluate(() => document.documentElement.dataset.theme), "dark");
  for (const close of [() => tab.keyboard.press("Escape"), () => tab.mouse.click(700, 880)]) {
    await menu(tab, "Group runs").click();
    await seen(tab.getByRole("combobox", { name: "Spread" }));
    await close();
    await gone(tab.getByRole("combobox", { name: "Spread" }));
  }
  await tab.locator("summary").and(tab.getByLabel("Share")).click();
  await seen(tab.getByRole("button", { name: /HTML/ }));
  await gone(tab.getByRole("button", { name: "Save SVG" }), "there is no picture of a graph");
  const file = await saved(tab, () => tab.getByRole("button", { name: /HTML/ }).click());
  ok(file.data.toString().includes('"view":"'), "the view is in it");
});

test("long names of runs are cut where no two look the same", async ({ page }) => {
  const tab = await page("tabs.html", "page=scalar");
  const names = () => tab.locator(".run-name").allTextContents();
  await becomes(async () => new Set(await names()).size, 13);
  await until(async () => (await names()).some((name) => name.includes("…")), "some are cut");
});

test("of long names what differs is left, in the order of people, and nothing hides it", async ({ page }) => {
  const tab = await page("long_names.html", "page=scalar");
  const names = tab.locator(".run-name");
  const shown = () => names.allTextContents();
  const parts = async () => (await shown()).map((name) => [/lr(0\.\d+)/.exec(name)?.[1], /(2|10)$/.exec(name)?.[1]]);
  const order = ["0.001", "0.01", "0.1"].flatMap((lr) => [[lr, "2"], [lr, "10"]]);
  await becomes(parts, order);
  const cut = () => names.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  await becomes(cut, 0);
  await tab.setViewportSize({ width: 390, height: 844 });
  await becomes(cut, 0, "on a phone");
  await becomes(parts, order);
});

test("tabs are never cut: in a window of 1440, and at 200 %", async ({ page }) => {
  for (const width of [1440, 1024, 720]) {
    const tab = await page("tabs.html", "page=scalar");
    await tab.setViewportSize({ width, height: 900 });
    await seen(tab.getByRole("tab").nth(8));
    await becomes(() => tab.getByRole("tab").evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length), 0, `${width} wide`);
    await becomes(() => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  }
});

test("on a phone a finger meets what it wants", async ({ page }) => {
  const tab = await page("tabs.html", "page=scalar");
  await tab.setViewportSize({ width: 390, height: 844 });
  const small = () =>
    tab.locator("#logs :is(button, select, input, summary)").evaluateAll((all) =>
      all
        .map((one) => [one, one.getBoundingClientRect()])
        .filter(([one, box]) => box.width > 1 && box.height > 1 && (box.width < 24 || box.height < 24))
        .map(([one]) => one.getAttribute("aria-label") || one.textContent),
    );
  await seen(tab.getByRole("figure").first());
  await becomes(small, []);
  await tab.getByRole("tab", { name: "HParams" }).click();
  await seen(tab.getByRole("table").first());
  await becomes(small, [], "in the table of trials");
});

test("on a phone at 200 % nothing is cut, and a target has 24 px everywhere", async ({ tab, page }) => {
  const faults = () =>
    tab.evaluate(() => {
      const all = [...document.querySelectorAll("button, select, input, summary, [role=tab]")].filter((one) => one.checkVisibility());
      const rolls = (one) => one && (/auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth ? true : rolls(one.parentElement));
      const small = all.filter((one) => {
        const { width, height } = (one.closest("label") ?? one).getBoundingClientRect();
        return width > 1 && height > 1 && (width < 24 || height < 24);
      });
      const cut = all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && one.id !== "log-page" && !rolls(one.parentElement));
      return [...small, ...cut].map((one) => one.getAttribute("aria-label") || one.textContent.trim());
    });
  for (const [width, height] of [[195, 422], [1440, 900]]) {
    await tab.setViewportSize({ width, height });
    for (const [name, hash] of [["tabs.html", "page=scalar"], ["tabs.html", "page=hparams"], ["tabs.html", "page=pr_curve"], ["steps.html", "page=profile"], ["mnist.html", "select=conv1"]]) {
      await tab.goto("about:blank");
      await page(name, hash);
      if (name === "mnist.html") await seen(tab.locator("#card .link").first());
      await becomes(faults, [], `${name} ${hash} ${width}`);
    }
  }
});

test("a double click centres what it opened", async ({ page }) => {
  const tab = await page("mnist.html");
  for (const name of ["fc1", "dropout"]) {
    await tab.locator(`g.node[data-name="${name}"]`).dblclick();
    await becomes(async () => {
      const box = await tab.locator(`g.node[data-name="${name}"][aria-expanded="true"] rect`).first().boundingBox();
      return box !== null && box.y > 60 && box.y + box.height < 890 && Math.abs(box.y + box.height / 2 - 480) < 120;
    }, true, name);
  }
});

test("a link opens a stack as a picture does, and may list its members", async ({ page }) => {
  const boxes = (tab) => tab.evaluate(async () => (await window.tbgraph.scene()).boxes.map((one) => one.name));
  const one = await page("stack.html", "open=b_[0-5]");
  await becomes(() => boxes(one), ["x", "b_[0-5]", "y", "b_0/mul", "b_0/sum"]);
  const all = await page("stack.html", "open=b_[0-5]&members=b_[0-5]&select=y"); // another hash alone would load nothing
  await all.reload();
  await all.evaluate(() => window.tbgraph.ready);
  await becomes(() => boxes(all), ["x", "b_[0-5]", "y", ...[0, 1, 2, 3, 4, 5].map((at) => `b_${at}`)]);
  await until(async () => (await hash(all)).includes("members=b_[0-5]"), "the address keeps it");
});

test("a wild card in a link opens what it opens in a picture", async ({ tab, page, folder }) => {
  const opened = () => tab.evaluate(async () => (await window.tbgraph.scene()).boxes.filter((one) => one.open).map((one) => one.name));
  await page("wild.html");
  await page("mnist.html");
  for (const [name, pattern, wanted] of JSON.parse(fs.readFileSync(path.join(folder, "wild.json"), "utf8"))) {
    await tab.goto("about:blank");
    await page(`${name}.html`, `open=${encodeURIComponent(pattern)}`);
    await becomes(async () => (await opened()).sort(), wanted, pattern);
  }
  await tab.goto("about:blank");
  await page("mnist.html", "open=conv*,nothing*");
  await becomes(async () => (await opened()).sort(), ["conv1", "conv2"]);
  await seen(tab.getByText(/nothing\*/).first(), "what means nothing is said");
});
