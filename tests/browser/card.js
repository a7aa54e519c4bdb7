// A card that answers: what comes and goes by the boxes that are seen, what a constant holds, what an op is for, how two
// boxes differ; and an outline that is filtered.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const table = (tab, name) => card(tab).getByRole("table", { name, exact: true });

test("a card answers: by the boxes that are seen, of the step that is shown, beside its twin", async ({ tab, page }) => {
  await page("paces.html", "select=conv1/pool");
  await seen(node(tab, "conv1/pool"), "a link that only chooses opens what is around");
  await tab.evaluate(() => window.tbgraph.select("conv1"));
  const train = table(tab, "Outputs").getByRole("row", { name: /^train ×\d/ });
  await seen(train, "one row for all that lies in a closed box");
  const tensors = train.getByRole("button", { name: "Its tensors" });
  await tensors.click();
  await becomes(() => tensors.getAttribute("aria-expanded"), "true");
  const inner = table(tab, "Outputs").getByRole("button", { name: /^train\/gradients\// });
  await seen(inner.first());
  await tensors.click();
  await gone(inner.first());

  await card(tab).getByRole("button", { name: "Copy the name" }).click();
  await becomes(() => tab.evaluate(() => navigator.clipboard.readText()), "conv1");

  const time = table(tab, "Statistics").getByRole("row", { name: /^Compute time/ });
  const all = await time.textContent();
  await tab.getByRole("combobox", { name: "Step" }).selectOption({ index: 1 });
  await until(async () => (await time.textContent()) !== all, "what that step took");

  await card(tab).getByRole("table", { name: "Twins" }).getByRole("row", { name: /^conv2/ }).getByRole("button", { name: "Side by side" }).click();
  const beside = tab.getByRole("dialog", { name: "Side by side" });
  await seen(beside.getByRole("columnheader", { name: "conv2" }));
  await seen(beside.getByRole("row", { name: /^Parameters 104 808/ }));
  await becomes(() => beside.getByRole("row", { name: /loc:@conv1/ }).count(), 0, "their own names are no difference");
  await tab.keyboard.press("Escape");
  await gone(beside);
  await node(tab, "fc1").click({ modifiers: ["Shift"] });
  await seen(beside.getByRole("columnheader", { name: "fc1" }));
  await tab.keyboard.press("Escape");
  await seen(card(tab).getByRole("heading", { name: "conv1", exact: true }), "it is still chosen");
}, { alone: true });

test("a card tells what a constant holds, and what an op and its attributes are for", async ({ tab, page }) => {
  await page("frozen.html");
  await tab.evaluate(() => window.tbgraph.select("conv0/kernel"));
  await seen(table(tab, "Value").getByRole("row", { name: /^Type and shape float32 3×3×1×4/ }));
  for (const name of [/^Least -0\.\d+/, /^Largest 0\.\d+/, /^Mean 0\.\d+/, /^First values .* … 36 in all/]) await seen(table(tab, "Value").getByRole("row", { name }));
  await seen(card(tab).getByRole("img", { name: /^How the values are spread from -0/ }));
  await becomes(() => table(tab, "Attributes").getByRole("row", { name: /^value/ }).count(), 0, "told once");
  await tab.evaluate(() => window.tbgraph.select("conv0/Conv2D"));
  await seen(card(tab).getByText(/^Slides a kernel over an image/));
  await becomes(() => table(tab, "Attributes").getByText("padding", { exact: true }).getAttribute("title").then((text) => text.slice(0, 7)), "How the");
  await set(tab, "Language", "ko");
  await seen(tab.getByRole("complementary", { name: "상세 정보" }).getByText(/^커널을 이미지 위로/));
});

test("a card has the whole configuration of a Keras layer", async ({ tab, page }) => {
  await page("keras.html", "select=cnn/conv1");
  await seen(table(tab, "Configuration").getByRole("row", { name: "kernel_size [3, 3]" }));
  await seen(table(tab, "Configuration").getByRole("row", { name: /^kernel_initializer GlorotUniform/ }));
  await seen(table(tab, "Statistics").getByRole("row", { name: "Parameters 80" }));
});

test("the tree is read in the order and with the levels of its boxes, and one box is saved from its menu", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1");
  const told = () => tab.evaluate(() => {
    const order = document.getElementById("picture").getAttribute("aria-owns").split(" ").map((id) => document.getElementById(id)).filter(Boolean);
    return order.map((one) => [one.dataset.name, one.ariaLevel, Number(one.getAttribute("aria-posinset")), Number(one.getAttribute("aria-setsize"))]);
  });
  const boxes = (await tab.evaluate(() => window.tbgraph.scene())).boxes;
  await eventually(async () => {
    const read = await told();
    equal(read.map(([name]) => name).sort(), boxes.map((box) => box.name).sort());
    const at = read.findIndex(([name]) => name === "conv1");
    const inside = boxes.filter((box) => box.parent === "conv1").length;
    ok(inside > 3 && read.slice(at + 1, at + 1 + inside).every(([name, level, , count], place) => name.startsWith("conv1/") && level === "2" && count === inside && read[at + 1 + place][2] === place + 1), JSON.stringify(read));
  });
  await node(tab, "conv1/pool").click({ button: "right" });
  const { data } = await saved(tab, () => tab.getByRole("menuitem", { name: "Save this box as SVG" }).click());
  ok(String(data).includes("pool") && !String(data).includes("fc1"), "that box alone");
});

test("the outline is filtered by a query, and leads to what is left", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("button", { name: "Outline" }).click();
  const outline = tab.getByRole("tree", { name: "Outline" });
  const filter = tab.getByRole("searchbox", { name: "Filter the outline" });
  await filter.fill("op:MaxPool");
  await becomes(() => outline.getByRole("treeitem").evaluateAll((all) => all.map((one) => [one.getAttribute("aria-label"), one.getAttribute("aria-level")])), [["conv1", "1"], ["conv1/pool", "2"], ["conv2", "1"], ["conv2/pool", "2"]]);
  await outline.getByRole("treeitem", { name: "conv2/pool" }).click();
  await seen(card(tab).getByRole("heading", { name: "conv2/pool", exact: true }));
  await filter.fill("nothing like it");
  await seen(outline.getByText("Nothing found"));
  await filter.press("Escape");
  await until(async () => (await outline.getByRole("treeitem").count()) > 8);
  await tab.getByRole("button", { name: "Hide this panel" }).click();
  await gone(outline);
});
