// What a program may rely on: roles, names, attributes, the address, the script. Each line of the contract is looked at.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const scene = (tab) => tab.evaluate(() => window.tbgraph.scene());
const hash = (tab) => tab.evaluate(() => location.hash);

test("the picture is a tree of nodes that say what they are", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1");
  const picture = tab.locator("svg[role=tree][data-tbgraph]");
  await until(() => picture.getAttribute("aria-label"));
  const { boxes } = await scene(tab);
  const nodes = await picture.locator("[role=treeitem]").evaluateAll((all) =>
    all.map((one) => ({ name: one.dataset.name, kind: one.dataset.kind, level: one.getAttribute("aria-level"), expanded: one.getAttribute("aria-expanded"), label: one.getAttribute("aria-label") })),
  );
  equal(nodes.map((one) => one.name).sort(), boxes.map((box) => box.name).sort());
  for (const one of nodes) {
    const box = boxes.find(({ name }) => name === one.name);
    equal(one.kind, box.kind, one.name);
    ok(Number(one.level) >= 1, one.name);
    ok(one.label.startsWith(one.name) || one.label.startsWith(one.name.split("/").pop()), `${one.name}: ${one.label}`);
    if (box.open) equal(one.expanded, "true", one.name);
    else if (one.kind === "scope") ok(["false", null].includes(one.expanded), one.name); // a group of one op is drawn as that op
    else ok(one.expanded === (["scope", "series", "fold", "call", "function"].includes(one.kind) ? "false" : null), `${one.name} ${one.kind} ${one.expanded}`);
  }
});

test("lines and stubs say what they join", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1");
  const { lines, boxes } = await scene(tab);
  const drawn = await tab.locator("[data-edge]").evaluateAll((all) => all.map((one) => [one.dataset.from, one.dataset.to, one.dataset.edge]));
  equal(drawn.length, lines.length);
  ok(drawn.every(([from, to, kind]) => from && to && ["data", "control", "reference"].includes(kind)));
  const stubs = await tab.locator("[data-stub]").evaluateAll((all) => all.map((one) => [one.dataset.stub, one.dataset.of]));
  ok(stubs.length > 0);
  const names = new Set(boxes.map((box) => box.name));
  ok(stubs.every(([, host]) => names.has(host)));
});

test("everything around the picture has its role and its name", async ({ tab, page }) => {
  await page("steps.html");
  await tab.getByLabel("Settings", { exact: true }).click();
  for (const name of ["Step", "Colour by", "Theme", "Language"]) await seen(tab.getByRole("combobox", { name, exact: true }), name);
  await seen(tab.getByRole("searchbox", { name: "Find" }));
  await seen(tab.getByRole("region", { name: "Legend" }));
  await seen(tab.getByRole("img", { name: "Minimap" }));
  await tab.getByRole("button", { name: "Outline" }).click();
  await seen(tab.getByRole("tree", { name: "Outline" }));
  await tab.getByLabel("Share").click();
  for (const name of ["Save SVG", "Save PNG", "Copy link"]) await seen(tab.getByRole("button", { name }), name);
});

test("find lists options in a listbox and counts in a status", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("searchbox", { name: "Find" }).fill("conv1/pool");
  const options = tab.getByRole("listbox").getByRole("option");
  await until(async () => (await options.count()) > 0);
  await tab.getByRole("status").filter({ hasText: /found/ }).first().waitFor();
});

test("the card has its tables, and what they name leads on", async ({ tab, page }) => {
  await page("steps.html", "open=conv1,train");
  await node(tab, "conv1").click();
  await seen(card(tab).getByRole("heading", { name: "conv1", exact: true }));
  for (const name of ["Inputs", "Outputs", "Statistics", "Op types", "Twins"]) await card(tab).getByRole("table", { name }).waitFor();
  await card(tab).getByRole("table", { name: "Statistics" }).getByRole("row", { name: /Parameters/ }).waitFor();
  await card(tab).getByRole("table", { name: "Statistics" }).getByRole("row", { name: /FLOPs/ }).waitFor();
  for (const name of ["Trace inputs", "Trace outputs", "To the auxiliary area", "Open all inside", "Close all"]) {
    await seen(card(tab).getByRole("button", { name }), name);
  }
  await node(tab, "conv1/pool").click();
  await card(tab).getByRole("table", { name: "Attributes" }).waitFor();
  await until(async () => (await card(tab).getByRole("table", { name: "Inputs" }).getByRole("button").count()) > 0);
  await tab.evaluate(() => window.tbgraph.select("cross_entropy/total/sparse_softmax_cross_entropy_loss/Mul"));
  await card(tab).getByRole("table", { name: "Control inputs" }).waitFor();
});

test("the address is read and written, unknown keys are kept", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1,conv2&select=conv1/pool&colour=op-type&theme=dark&trace=in:conv1/pool&at=300.5,500,2000&what=ever");
  for (const part of ["open=conv1,conv2", "select=conv1/pool", "colour=op-type", "theme=dark", "trace=in:conv1/pool", "at=300.5,500,2000", "what=ever"]) await until(async () => (await hash(tab)).includes(part), part);
  await becomes(() => tab.getByRole("combobox", { name: "Colour by" }).inputValue(), "op-type");
  const state = await tab.evaluate(() => window.tbgraph.state());
  equal(state.select, "conv1/pool");
  await tab.evaluate(() => window.tbgraph.state({ open: ["conv2"], aux: ["fc1"] }));
  await until(async () => (await hash(tab)).includes("aux=fc1"));
  await until(async () => (await scene(tab)).boxes.some((box) => box.name === "conv2/pool"));
});

test("a program opens, closes, chooses, finds", async ({ tab, page }) => {
  await page("mnist.html");
  const told = await tab.evaluate(async () => {
    const { tbgraph } = window;
    await tbgraph.ready;
    await tbgraph.open("conv1/weights");
    const one = (await tbgraph.scene()).boxes.find((box) => box.name === "conv1/weights");
    await tbgraph.close("conv1");
    const closed = (await tbgraph.scene()).boxes.find((box) => box.name === "conv1");
    await tbgraph.select("conv1");
    const chosen = (await tbgraph.state()).select;
    await tbgraph.select(null);
    const found = await tbgraph.find("conv1/pool");
    const lost = await tbgraph.open("no/such").then(() => "", (error) => error.message);
    return { one, closed, chosen, none: (await tbgraph.state()).select ?? null, found, lost };
  });
  ok(told.one.open && !told.closed.open);
  for (const key of ["name", "kind", "x", "y", "width", "height", "open"]) ok(key in told.one, key);
  equal([told.chosen, told.none], ["conv1", null]);
  ok(told.found.includes("conv1/pool"));
  ok(told.lost.includes("no/such"));
});

test("every key of the contract does its work", async ({ tab, page }) => {
  await page("mnist.html");
  const key = (name) => tab.keyboard.press(name);
  const focus = () => tab.evaluate(() => document.activeElement.id);
  await key("/");
  await becomes(focus, "find");
  await key("Escape");
  await becomes(focus, "picture");
  await key("Control+k");
  await becomes(focus, "find");
  await key("Escape");
  await node(tab, "conv1").click();
  await seen(card(tab).getByRole("heading", { name: "conv1", exact: true }));
  await key("Enter");
  await until(async () => (await scene(tab)).boxes.some((box) => box.name === "conv1/pool"), "Enter opens");
  await key("Enter");
  await until(async () => !(await scene(tab)).boxes.some((box) => box.name === "conv1/pool"), "Enter closes");
  const at = () => tab.evaluate(async () => (await window.tbgraph.state()).at);
  for (const name of ["+", "-", "f", "0"]) {
    const before = await at();
    await key(name);
    await until(async () => (await at()) !== before, `${name} moves the camera`);
  }
  await key("i");
  await until(async () => (await hash(tab)).includes("trace=in:conv1"), "i");
  await key("Shift+O");
  await until(async () => (await hash(tab)).includes("trace=out-all:conv1"), "Shift O");
  await key("Escape");
  await until(async () => !(await hash(tab)).includes("trace="), "Escape ends the trace");
  await key("m");
  await until(async () => (await hash(tab)).includes("aux=conv1"), "m");
  await key("m");
  await until(async () => !(await hash(tab)).includes("aux="), "m again");
  await key("c");
  await until(async () => (await hash(tab)).includes("colour="), "c");
  await key("[");
  await until(async () => !(await hash(tab)).includes("colour="), "[ goes back");
  await key("[");
  await until(async () => (await hash(tab)).includes("aux=conv1"), "[ goes back further");
  await key("]");
  await until(async () => !(await hash(tab)).includes("aux="), "] goes forward");
  await key("t");
  await until(async () => (await hash(tab)).includes("theme=dark"), "t");
  await key("ArrowDown");
  await until(async () => !(await hash(tab)).endsWith("select=conv1") && (await tab.evaluate(async () => (await window.tbgraph.state()).select)) !== "conv1", "an arrow");
  await key("?");
  await tab.getByRole("dialog").waitFor();
});

test("what a page had no room for is told, with the way to it", async ({ tab, page }) => {
  await page("cut.html");
  await tab.getByText(/\d+ groups left out/).waitFor();
  await tab.evaluate(async () => {
    const names = await window.tbgraph.find("gradients");
    for (const name of names.sort((one, other) => other.split("/").length - one.split("/").length).slice(0, 60)) {
      await window.tbgraph.select(name);
      if (document.getElementById("card").textContent.includes("--page-max")) break;
    }
  });
  await seen(card(tab).getByText("--page-max"));
});

test("a trace says how far it goes, goes further, and ends by mouse too", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "fc2").click();
  const faded = () => tab.locator("g.node.faded").count();
  const inputs = card(tab).getByRole("button", { name: "Trace inputs" });
  await inputs.click();
  await tab.getByRole("status").filter({ hasText: /^Inputs of fc2 · \d+ ops?/ }).waitFor();
  const once = await faded();
  await inputs.click();
  await until(async () => (await hash(tab)).includes("trace=in-2:fc2"), "again: a hop further");
  await until(async () => (await faded()) <= once);
  await tab.getByRole("combobox", { name: "How far" }).selectOption({ label: "all the way" });
  await until(async () => (await hash(tab)).includes("trace=in-all:fc2"));
  await until(async () => (await faded()) < once, "less is faded");
  await tab.getByRole("button", { name: "End trace" }).click();
  await until(async () => (await faded()) === 0);
  await until(async () => !(await hash(tab)).includes("trace="));
});

test("what is found is not hidden by the list of what was found", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.keyboard.press("/");
  await tab.keyboard.type("conv2");
  const options = tab.getByRole("listbox", { name: "Find" }).getByRole("option");
  await seen(options.first());
  for (let at = 0; at < 4; at++) {
    await tab.keyboard.press("ArrowDown");
    await becomes(() => options.nth(at).getAttribute("aria-selected"), "true");
    const name = await options.nth(at).getAttribute("title");
    await seen(card(tab).getByRole("heading", { name, exact: true }));
    await settled(tab);
    if (!(await node(tab, name).count())) continue;
    await eventually(async () => {
      const [box, list] = [await node(tab, name).boundingBox(), await tab.locator("#found").boundingBox()];
      ok(box.y >= list.y + list.height - 1 || box.x + box.width < list.x || box.x > list.x + list.width, `${name} lies under the list`);
    });
  }
});
