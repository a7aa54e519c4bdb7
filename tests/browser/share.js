// Links that show the same place in every window, and what Share makes of a view.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));
const state = (tab) => tab.evaluate(() => window.tbgraph.state());
const names = async (tab) => (await tab.evaluate(() => window.tbgraph.scene())).boxes.map((box) => box.name);
const menu = async (tab) => {
  if (!(await tab.locator("#share").getAttribute("open"))?.length) await tab.getByLabel("Share").click();
};

/** Whether the middle of a node lies in the part of the window that nothing lies over. */
async function inSight(tab, name) {
  const box = await node(tab, name).boundingBox();
  const { width, height } = tab.viewportSize();
  return !!box && box.x + box.width / 2 > 0 && box.x + box.width / 2 < width && box.y + box.height / 2 > 48 && box.y + box.height / 2 < height;
}

test("a link shows the same place on a desk, a phone and a wall, with what was chosen in view", async ({ tab, page, context }) => {
  await page("mnist.html", "open=conv1,train");
  await becomes(async () => (await hash(tab)).includes("at="), false, "what is fitted is fitted anywhere");
  await node(tab, "conv1/pool").click();
  for (let turn = 0; turn < 3; turn++) await tab.keyboard.press("+");
  await tab.keyboard.press("f");
  await settled(tab);
  await until(() => inSight(tab, "conv1/pool"));
  await until(async () => (await hash(tab)).includes(`at=${(await state(tab)).at}`), "where the camera is now, not on its way");
  const link = await tab.evaluate(() => location.href);
  const place = (await state(tab)).at.split(",").map(Number);
  const { x, y, width, height } = (await tab.evaluate(() => window.tbgraph.scene())).boxes.find((box) => box.name === "conv1/pool");
  ok(Math.abs(place[0] - x - width / 2) < 2 && Math.abs(place[1] - y - height / 2) < 2, `the middle is that of what is fitted, ${place}`);
  for (const size of [{ width: 390, height: 844 }, { width: 3840, height: 2160 }]) {
    const other = await context.newPage();
    await other.setViewportSize(size);
    await other.goto(link);
    await other.evaluate(() => window.tbgraph.ready);
    await until(() => inSight(other, "conv1/pool"), `in a window of ${size.width}`);
    const there = (await state(other)).at.split(",").map(Number);
    ok(there.every((value, at) => Math.abs(value - place[at]) < 1), `${there} for ${place}`);
    await other.close();
  }
  const far = await context.newPage(); // chosen, but far from where the link looks
  await far.goto(link.replace(/at=[^&]*/, "at=-9000,-9000,300"));
  await far.evaluate(() => window.tbgraph.ready);
  await until(() => inSight(far, "conv1/pool"), "brought into view");
  await far.close();
});

test("the browser goes back over a burst of openings at once", async ({ tab, page }) => {
  await page("big.html");
  const before = await names(tab);
  const length = await tab.evaluate(() => history.length);
  await tab.evaluate(async () => {
    for (let turn = 0; turn < 20; turn++) {
      const box = (await window.tbgraph.scene()).boxes.find((one) => !one.open && one.kind === "scope");
      await window.tbgraph.open(box.name);
    }
  });
  await until(async () => (await names(tab)).length > before.length + 20, "many are open");
  await becomes(() => tab.evaluate(() => history.length), length + 1);
  await tab.goBack();
  await becomes(() => names(tab), before);
});

test("Share: the link of a file says where it works, and the view is a file of its own", async ({ tab, page, context, folder }) => {
  await page("mnist.html", "open=conv1&colour=op-type&theme=dark");
  await node(tab, "conv1/pool").click();
  await menu(tab);
  await seen(tab.getByText("The link works only where this file lies"), "the note");
  await tab.getByRole("button", { name: "Copy link" }).click();
  await seen(tab.getByRole("status").filter({ hasText: /Link copied.*save it as HTML/ }));
  await becomes(async () => (await tab.evaluate(() => navigator.clipboard.readText())) === (await tab.evaluate(() => location.href)), true);
  await menu(tab);
  const file = await saved(tab, () => tab.getByRole("button", { name: "Save this view as HTML" }).click());
  equal(file.name, "mnist_cnn.html");
  const copy = `${folder}/view-${Date.now()}.html`;
  require("node:fs").writeFileSync(copy, file.data);
  const other = await context.newPage();
  const faults = [];
  other.on("console", (message) => faults.push(message.text()));
  other.on("pageerror", (error) => faults.push(error.message));
  await other.goto(`file://${copy}`);
  await other.evaluate(() => window.tbgraph.ready);
  await seen(node(other, "conv1/pool"));
  await becomes(async () => (await state(other)).select, "conv1/pool");
  await becomes(async () => [(await state(other)).colour, (await state(other)).theme], ["op-type", "dark"]);
  await becomes(() => names(other), await names(tab));
  equal(faults, []);
  await other.close();
}, { alone: true });

test("Share: the picture of the whole, of the screen, of the selected box alone; without marks, title, legend", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1,conv2");
  const svg = async () => String((await saved(tab, () => tab.getByRole("button", { name: "Save SVG" }).click())).data);
  const boxes = (text) => new Set([...text.matchAll(/data-name="([^"]+)"/g)].map((one) => one[1]));
  await menu(tab);
  const whole = await svg();
  await becomes(async () => (await names(tab)).filter((name) => name && !boxes(whole).has(name)), []);
  ok(whole.includes("mnist_cnn.pbtxt") && /<text[^>]*>convolution</.test(whole), "title and legend");
  await becomes(() => tab.getByRole("combobox", { name: "Picture of" }).getByRole("option").count(), 2, "nothing is selected");
  for (const name of ["Title", "Legend", "+ and − marks"]) await tab.getByRole("checkbox", { name }).uncheck();
  const bare = await svg();
  ok(bare.length < whole.length && !/<text[^>]*>convolution</.test(bare) && !/<text[^>]*>mnist_cnn/.test(bare), "neither title nor legend");
  await becomes(() => tab.evaluate(() => window.tbgraph.scene().then((scene) => scene.boxes.length)), (await names(tab)).length);
  const marks = (text) => (text.match(/<circle[^>]*r="6"/g) ?? []).length;
  ok(marks(whole) > 0 && marks(bare) === 0, `${marks(whole)} marks, ${marks(bare)} without`);
  await tab.getByLabel("Share").click();
  await tab.evaluate(() => window.tbgraph.select("conv2"));
  await menu(tab);
  await tab.getByRole("combobox", { name: "Picture of" }).selectOption({ label: "the selected box alone" });
  const alone = await svg();
  ok([...boxes(alone)].every((name) => name === "conv2" || name.startsWith("conv2/")) && boxes(alone).has("conv2/pool"), [...boxes(alone)].join());
  const box = (await tab.evaluate(() => window.tbgraph.scene())).boxes.find((one) => one.name === "conv2");
  equal(Number(/width="(\d+)"/.exec(alone)[1]), box.width + 24, "no wider than the box");
  await tab.getByRole("checkbox", { name: "Title" }).check();
  const png = await saved(tab, () => tab.getByRole("button", { name: "Save PNG" }).click());
  ok(png.name.endsWith(".png") && png.data.readUInt32BE(20) > 2 * box.height, "with its title");
  await tab.getByRole("combobox", { name: "Picture of" }).selectOption({ label: "what is on the screen" });
  await tab.evaluate(async () => window.tbgraph.state({ ...(await window.tbgraph.state()), at: "120,120,200" }));
  const part = await svg();
  ok(boxes(part).size > 0 && boxes(part).size < boxes(whole).size, `${boxes(part).size} of ${boxes(whole).size} boxes`);
});

test("what is shown is saved as a view file", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1,train&aux=fc1&colour=op-type");
  await menu(tab);
  const file = await saved(tab, () => tab.getByRole("button", { name: "Save view as tbgraph.toml" }).click());
  equal(file.name, "tbgraph.toml");
  const lines = String(file.data).split("\n");
  ok(/^open = \[.*"train".*\]$/.test(lines[0]) && lines[0].includes('"conv1"'), lines[0]);
  ok(lines.includes('aside = ["fc1"]') && lines.includes('color-by = "op-type"'), lines.join("\n"));
});
