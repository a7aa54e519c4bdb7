// What else a run logged: histograms, distributions, images, sounds, texts, curves and tensors, each on its page.

const open = async (tab, name) => {
  await tab.getByRole("tab", { name, exact: true }).click();
  await seen(tab.getByRole("tab", { name, selected: true }));
  await seen(tab.getByRole("figure").first());
};
const figure = (tab, name) => tab.getByRole("figure", { name }).first();
const pixels = (place) => place.locator("canvas").evaluate((canvas) => canvas.toDataURL());
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));
const choose = async (place, name) => {
  await place.getByLabel("More").click();
  await place.getByRole("button", { name }).click();
};
const drawn = (place) => coloursOf(place.locator("canvas"));

test("histograms, distributions and curves are drawn, told in words and in tables", async ({ page }) => {
  const tab = await page("tabs.html", "page=histogram&runs=tf2/train,v1");
  const weights = figure(tab, /^dense\/kernel, tf2\/train: \d+ steps, range /);
  await seen(weights);
  await until(async () => (await drawn(weights)) > 5, "ridges");
  const offset = await pixels(weights);
  await tab.getByRole("combobox", { name: "Mode" }).selectOption("overlay");
  await until(async () => (await pixels(weights)) !== offset, "overlaid");
  await until(async () => (await hash(tab)).includes("mode=overlay"));
  await weights.locator("canvas").hover({ position: { x: 150, y: 150 } });
  await seen(tab.getByRole("tooltip").getByRole("columnheader", { name: "Count" }));
  await choose(weights, "Show as table");
  await becomes(() => weights.getByRole("columnheader").count(), 32, "step, time and thirty bins");
  await open(tab, "Distributions");
  const bands = figure(tab, /^dense\/kernel, tf2\/train: \d+ steps, last median /);
  await seen(bands);
  await until(async () => (await drawn(bands)) > 5, "bands");
  const file = await saved(tab, () => choose(bands, "Download CSV"));
  ok(file.data.toString().startsWith("run,tag,step,wall_time,min,6.68 %,"), file.data.toString().slice(0, 99));
  await open(tab, "PR curves");
  const curve = figure(tab, /1 runs$/);
  await until(async () => (await drawn(curve)) > 5, "a curve");
  await curve.getByLabel("Description").click();
  await seen(curve.getByRole("heading", { name: "h", exact: true }));
  await choose(curve, "Show as table");
  await seen(curve.getByRole("columnheader", { name: "Recall" }));
});

test("images, sounds and tensors follow one step", async ({ page }) => {
  const tab = await page("tabs.html", "runs=tf2/train,tf2/validation");
  await open(tab, "Images");
  const [one, other] = ["tf2/train", "tf2/validation"].map((run) => figure(tab, new RegExp(`^grey, ${run}: `)));
  await until(() => one.locator("img").first().evaluate((image) => image.naturalWidth > 1), "an image");
  const slider = one.getByRole("slider", { name: "Step" });
  const last = await slider.getAttribute("aria-valuetext");
  await one.focus();
  await tab.keyboard.press(",");
  await until(async () => (await slider.getAttribute("aria-valuetext")) !== last, "another step");
  await becomes(async () => (await other.getByRole("slider").getAttribute("aria-valuetext")).split(" ·")[0], (await slider.getAttribute("aria-valuetext")).split(" ·")[0], "linked");
  await until(async () => /logstep=\d/.test(await hash(tab)));
  await one.getByRole("slider").press("End");
  await until(async () => !/logstep=/.test(await hash(tab)));
  await open(tab, "Audio");
  const isLoaded = (audio) => {
    if (audio.preload !== "auto") Object.assign(audio, { preload: "auto" }).load(); // once: it begins anew each time
    return audio.duration > 0;
  };
  await until(() => tab.locator("audio").first().evaluate(isLoaded), "a sound that plays");
  await open(tab, "Tensors");
  await seen(figure(tab, /^plain, tf2\/train: Step \d+, float32 \[1, 2\]/));
  await tab.keyboard.press("2");
  await seen(tab.getByRole("tab", { selected: true, name: "Histograms" }));
});

test("texts are Markdown, and what is hostile in them or called an image is harmless", async ({ page }) => {
  const tab = await page("tabs.html", "page=text&runs=hostile");
  const note = figure(tab, /^note, hostile/);
  await seen(note.getByRole("heading", { name: "Notes" }));
  await seen(note.getByRole("link", { name: "docs" }));
  await seen(note.getByRole("columnheader", { name: "lr" }));
  await becomes(() => note.locator("li").allTextContents(), ["one", "two three"]);
  await seen(note.getByText("<img src=x onerror=window.hacked=1>"));
  await becomes(() => note.locator("a").evaluateAll((links) => links.map((link) => link.protocol)), ["https:", "http:"], "links");
  await becomes(() => note.locator(".plot :is(img, script, iframe, svg)").count(), 0, "no element of the text's own");
  await choose(note, /Show as plain text/);
  await seen(note.getByText("# Notes"));
  const slow = await tab.evaluate(async () => {
    const begun = performance.now();
    await window.tbgraph.page("image");
    return performance.now() - begun;
  });
  ok(slow < 20_000, `the texts took ${slow} ms`);
  await seen(figure(tab, /^picture, hostile/).getByRole("link", { name: /No image or sound/ }));
  const huge = figure(tab, /^huge, hostile/);
  await huge.getByRole("button", { name: /Show the image: PNG, 60000 × 60000/ }).click();
  await seen(huge.getByRole("img"));
  await becomes(() => tab.evaluate(() => window.hacked), undefined);
});

test("trials are sorted by a metric, coloured by it, and shown in charts", async ({ page }) => {
  const tab = await page("tabs.html", "page=hparams");
  const rows = () => tab.getByRole("table").getByRole("rowheader").allTextContents().then((names) => names.map((name) => name.trim()));
  await becomes(rows, ["trials/run0", "trials/run1", "trials/run2", "trials/run3"]);
  const head = tab.getByRole("columnheader", { name: "Accuracy" });
  for (const order of ["ascending", "descending"]) {
    await head.getByRole("button").click();
    await becomes(() => head.getAttribute("aria-sort"), order);
  }
  await becomes(rows, ["trials/run3", "trials/run2", "trials/run1", "trials/run0"]);
  const lines = tab.getByRole("img", { name: "Parallel coordinates" }).locator("path[data-trial]");
  const plain = await lines.first().getAttribute("stroke");
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("accuracy");
  await until(async () => (await lines.first().getAttribute("stroke")) !== plain, "coloured");
  await until(async () => /sort=-accuracy.*by=accuracy/.test(await hash(tab)), "the address");
  await becomes(() => tab.getByRole("img", { name: "Scatter" }).locator("circle").count(), 4);
  await tab.getByRole("checkbox", { name: /trials\/run1\s*\d*$/ }).uncheck();
  await becomes(() => lines.count(), 3);
  await tab.getByText("Filters", { exact: true }).click();
  await tab.getByRole("group", { name: "optimizer" }).getByRole("checkbox", { name: "adam" }).uncheck();
  await becomes(rows, ["trials/run3"]);
  await until(async () => /trials=[^&]*adam/.test(await hash(tab)), "the filter is in the address");
  const file = await saved(tab, () => tab.getByRole("button", { name: "Download CSV" }).click());
  equal(file.data.toString().split("\r\n")[1], "trials/run3,t3,unknown,0.05,16,sgd,0.8199999928474426,-1");
});

test("on a phone, in the dark, in Korean, nothing is cut at the side", async ({ page }) => {
  const tab = await page("tabs.html", "page=image&theme=dark&language=ko");
  await seen(tab.getByRole("tab", { name: "이미지", selected: true }));
  for (const name of ["히스토그램", "텍스트", "텐서"]) {
    await open(tab, name);
    await until(async () => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
    await eventually(async () => {
      const box = await tab.getByRole("figure").first().boundingBox();
      ok(box.x >= 0 && box.x + box.width <= 390, `${name}: ${JSON.stringify(box)}`);
    });
  }
}, { viewport: { width: 390, height: 800 }, hasTouch: true });
