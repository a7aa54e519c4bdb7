// What a person does with the page, by role and name, and what they see.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const boxes = (tab) => tab.evaluate(async () => (await window.tbgraph.scene()).boxes.map((box) => box.name));
const middle = async (locator) => {
  const box = await locator.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
};

test("the first picture is the one that render draws, fitted", async ({ tab, page }) => {
  await page("mnist.html");
  const tree = tab.getByRole("tree", { name: /^Graph of mnist/ });
  await seen(tree);
  for (const name of ["conv1", "conv2", "train"]) await seen(tab.getByRole("treeitem", { name: new RegExp(`^${name}`) }).first(), name);
  const shown = await tab.evaluate(async () => {
    const names = (await window.tbgraph.scene()).boxes.map((box) => box.name);
    return [...document.querySelectorAll("g.node")].map((one) => [names.includes(one.dataset.name), one.getBoundingClientRect().toJSON()]);
  });
  ok(shown.length > 5 && shown.every(([known]) => known));
  ok(shown.every(([, { top, left, bottom, right }]) => top > 48 && left >= 0 && bottom < 900 && right <= 1440), "fitted");
});

test("a double click opens a group and closes it again", async ({ tab, page }) => {
  await page("mnist.html");
  const before = await boxes(tab);
  await node(tab, "conv1").dblclick();
  await until(async () => (await boxes(tab)).includes("conv1/weights"));
  await becomes(() => node(tab, "conv1").getAttribute("aria-expanded"), "true");
  await tab.evaluate(() => window.tbgraph.close("conv1"));
  await becomes(() => boxes(tab), before);
});

test("the mark opens, and stays under the pointer", async ({ tab, page }) => {
  await page("mnist.html");
  const [x, y] = await tab.evaluate(async () => {
    const box = (await window.tbgraph.scene()).boxes.find((one) => one.name === "conv2");
    const home = document.querySelector('g.node[data-name="conv2"]').getBoundingClientRect();
    const scale = home.width / box.width;
    return [home.right - 10 * scale, home.top + 10 * scale];
  });
  await tab.mouse.click(x, y);
  await until(async () => (await boxes(tab)).includes("conv2/weights"));
  await becomes(() => tab.evaluate(([x, y]) => document.elementFromPoint(x, y).closest("g.node").dataset.name, [x, y]), "conv2");
  await tab.mouse.click(x, y);
  await until(async () => !(await boxes(tab)).includes("conv2/weights"));
});

test("a click chooses, and the card tells", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1");
  await node(tab, "conv1/pool").click();
  await seen(card(tab).getByRole("heading", { name: "conv1/pool" }));
  await seen(card(tab).getByRole("table", { name: "Attributes" }).getByText("ksize"));
  const inputs = card(tab).getByRole("table", { name: "Inputs" });
  await inputs.getByRole("button", { name: "conv1/activation" }).click();
  await seen(card(tab).getByRole("heading", { name: "conv1/activation" }));
  await becomes(() => node(tab, "conv1/activation").getAttribute("aria-selected"), "true");
  await tab.keyboard.press("Escape");
  await gone(card(tab));
});

test("what a card names opens what is around it", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv1").click();
  await card(tab).getByRole("table", { name: "Op types" }).waitFor();
  await card(tab).getByRole("table", { name: "Twins" }).getByRole("button", { name: "conv2" }).waitFor();
  const outputs = card(tab).getByRole("table", { name: "Outputs" });
  await outputs.getByRole("row", { name: /^train / }).getByRole("button", { name: "Its tensors" }).click();
  await outputs.getByRole("button", { name: /train\/gradients/ }).first().click();
  await until(async () => (await boxes(tab)).some((name) => name.startsWith("train/gradients/")));
});

test("find counts, lists, and walks", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.keyboard.press("/");
  const find = tab.getByRole("searchbox", { name: "Find" });
  await find.fill("conv1/weights");
  await tab.getByRole("status").filter({ hasText: /\d+ found/ }).waitFor();
  await until(async () => (await tab.getByRole("listbox", { name: "Find" }).getByRole("option").count()) > 3);
  await find.press("Enter");
  await until(async () => (await boxes(tab)).includes("conv1/weights"));
  await card(tab).getByRole("heading", { name: "conv1/weights", exact: true }).waitFor();
  await find.press("Enter");
  await card(tab).getByRole("heading", { name: /^conv1\/weights\/./ }).waitFor();
});

test("find takes op types, attributes and regular expressions", async ({ tab, page }) => {
  await page("mnist.html");
  const count = (text) => tab.evaluate(async (text) => (await window.tbgraph.find(text)).length, text);
  await until(async () => (await count("MaxPool")) >= 2, "by op type");
  await until(async () => (await count("padding=SAME")) >= 2, "by attribute");
  await becomes(() => count("/^conv[12]$/"), 2);
  await becomes(() => count("/(/"), 0);
});

test("the wheel zooms about the pointer, dragging pans", async ({ tab, page }) => {
  await page("mnist.html");
  const [x, y] = await middle(node(tab, "conv1"));
  const { width } = await node(tab, "conv1").boundingBox();
  await tab.mouse.move(x, y);
  await tab.mouse.wheel(0, -200);
  await until(async () => (await node(tab, "conv1").boundingBox()).width > 1.2 * width, "larger");
  const [zx, zy] = await middle(node(tab, "conv1"));
  ok(Math.hypot(zx - x, zy - y) < 3, "stays under the pointer");
  await tab.mouse.move(80, 120);
  await tab.mouse.down();
  await tab.mouse.move(140, 180, { steps: 4 });
  await tab.mouse.up();
  await eventually(async () => {
    const [px, py] = await middle(node(tab, "conv1"));
    ok(Math.abs(px - zx - 60) < 2 && Math.abs(py - zy - 60) < 2, `panned by ${px - zx}, ${py - zy}`);
  });
  await tab.keyboard.press("0");
  await until(async () => {
    const [fx, fy] = await middle(node(tab, "conv1"));
    return Math.hypot(fx - x, fy - y) < 3;
  }, "fits again");
});

test("the address holds the state, and another tab shows the same", async ({ tab, page, context }) => {
  await page("mnist.html");
  await tab.evaluate(async () => {
    await window.tbgraph.open("conv1");
    await window.tbgraph.select("conv1/weights");
  });
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("op-type");
  await until(async () => (await tab.evaluate(() => location.hash)).includes("colour=op-type"));
  const hash = await tab.evaluate(() => location.hash);
  ok(hash.includes("open=conv1") && hash.includes("select=conv1/weights"), hash);
  const other = await context.newPage();
  await other.goto((await tab.evaluate(() => location.href)));
  await other.evaluate(() => window.tbgraph.ready);
  await becomes(() => boxes(other), await boxes(tab));
  await seen(card(other).getByRole("heading", { name: "conv1/weights" }));
});

test("a hash of another file opens what it can and says what it could not", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1,nothing/here&colour=pink&later=1");
  await until(async () => (await boxes(tab)).includes("conv1/weights"));
  await seen(tab.getByRole("status").filter({ hasText: "nothing/here" }));
  await until(async () => (await tab.evaluate(() => location.hash)).includes("later=1"), "unknown keys are kept");
});

test("the keyboard does it all", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("tree", { name: /^Graph/ }).focus();
  await tab.keyboard.press("ArrowDown");
  await card(tab).waitFor();
  await tab.evaluate(() => window.tbgraph.select("conv1"));
  await tab.getByRole("tree", { name: /^Graph/ }).focus();
  await tab.keyboard.press("Enter");
  await until(async () => (await boxes(tab)).includes("conv1/weights"));
  await tab.keyboard.press("ArrowUp");
  await until(async () => (await card(tab).getByRole("heading").first().textContent()) !== "conv1", "it goes on");
  await tab.evaluate(() => window.tbgraph.select("conv1/pool"));
  await tab.keyboard.press("Alt+ArrowUp");
  await card(tab).getByRole("heading", { name: "conv1", exact: true }).waitFor();
  await tab.keyboard.press("?");
  await seen(tab.getByRole("dialog"));
  await tab.keyboard.press("Escape");
  await gone(tab.getByRole("dialog"));
  await tab.keyboard.press("t");
  await until(async () => (await tab.evaluate(() => document.documentElement.dataset.theme)) === "dark");
});

test("tracing fades the rest", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "fc1").click();
  await card(tab).getByRole("button", { name: "Trace inputs" }).click();
  const faded = (name) => node(tab, name).evaluate((one) => one.classList.contains("faded"));
  await becomes(() => faded("fc2"), true);
  await becomes(() => faded("conv2"), false);
  await tab.keyboard.press("Escape");
  await until(async () => (await tab.locator(".faded").count()) === 0);
});

test("the outline shows the same tree, by keyboard too", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("button", { name: "Outline" }).click();
  const outline = tab.getByRole("tree", { name: "Outline" });
  const line = outline.getByRole("treeitem", { name: "conv1" });
  await line.click();
  await line.focus();
  await tab.keyboard.press("ArrowRight");
  await seen(outline.getByRole("treeitem", { name: "conv1/weights" }));
  await until(async () => (await boxes(tab)).includes("conv1/weights"));
});

test("two languages", async ({ tab, page }) => {
  await page("mnist.html");
  await set(tab, "Language", "ko");
  await tab.getByRole("searchbox", { name: "찾기" }).waitFor();
  await becomes(() => tab.evaluate(() => document.documentElement.lang), "ko");
});

test("saved pictures stand by themselves", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1");
  await tab.getByLabel("Share").click();
  const text = String((await saved(tab, () => tab.getByRole("button", { name: "Save SVG" }).click())).data);
  ok(text.startsWith("<svg") && text.includes('data-name="conv1/weights"') && !text.includes("class="), text.slice(0, 200));
  const { name } = await saved(tab, () => tab.getByRole("button", { name: "Save PNG" }).click());
  ok(name.endsWith(".png"), name);
});

test("the link can be copied", async ({ tab, page }) => {
  await page("mnist.html", "open=conv2");
  await tab.getByLabel("Share").click();
  await tab.getByRole("button", { name: "Copy link" }).click();
  await until(async () => (await tab.evaluate(() => navigator.clipboard.readText())).includes("#open=conv2"));
}, { alone: true });

test("opening in any order gives the same picture", async ({ tab, page }) => {
  await page("mnist.html");
  const scene = () => tab.evaluate(async () => JSON.stringify(await window.tbgraph.scene()));
  await tab.evaluate(async () => {
    await window.tbgraph.open("conv1");
    await window.tbgraph.open("train");
    await window.tbgraph.open("fc1");
  });
  const one = await scene();
  await tab.evaluate(async () => {
    for (const name of ["conv1", "train", "fc1"]) await window.tbgraph.close(name);
    for (const name of ["fc1", "conv2", "train", "conv1"]) await window.tbgraph.open(name);
    await window.tbgraph.close("conv2");
  });
  await becomes(scene, one);
});

test("fifty sets of open groups look as Python draws them, number for number", async ({ tab, page, folder }) => {
  await page("mnist.html");
  for (const [open, expected] of JSON.parse(require("node:fs").readFileSync(`${folder}/sets.json`, "utf8"))) {
    const found = await tab.evaluate(async (open) => {
      await window.tbgraph.state({ open: open.length ? open : [""] });
      const { width, height, boxes, lines } = await window.tbgraph.scene();
      return {
        width,
        height,
        boxes: boxes.map((one) => [one.name, one.kind, one.x, one.y, one.width, one.height, one.open]),
        lines: lines.map((one) => [one.from, one.to, one.kind, one.points]),
      };
    }, open);
    equal(found, expected, open.join());
  }
});

test("opening and closing in any order leaves every pixel as it was", async ({ tab, page }) => {
  await page("mnist.html", "at=375,507.5,1065");
  const shot = async () => (await tab.getByRole("main").screenshot({ animations: "disabled" })).toString("base64");
  const walk = (open, close) =>
    tab.evaluate(async ([open, close]) => {
      for (const name of open) await window.tbgraph.open(name);
      for (const name of close) await window.tbgraph.close(name);
      await window.tbgraph.state({ ...(await window.tbgraph.state()), at: "375,507.5,1065" });
    }, [open, close]);
  await walk(["conv1"], []);
  const one = await shot();
  await walk(["train", "conv2", "conv1/weights"], ["conv1/weights", "train", "conv2"]);
  await until(async () => (await shot()) === one, "the same after three groups came and went");
  await walk(["fc1", "fc2"], ["conv1", "fc2", "fc1"]);
  await walk(["conv1"], []);
  await until(async () => (await shot()) === one, "the same after it was closed itself");
});

test("functions open in themselves", async ({ tab, page }) => {
  await page("recursive.html");
  const deep = await tab.evaluate(async () => {
    for (let depth = 0; depth < 6; depth++) {
      const { boxes } = await window.tbgraph.scene();
      const calls = boxes.filter((box) => !box.open && box.kind === "call");
      if (!calls.length) break;
      await window.tbgraph.open(calls.sort((a, b) => b.name.split("::").length - a.name.split("::").length)[0].name);
    }
    const { boxes } = await window.tbgraph.scene();
    return Math.max(...boxes.map((box) => box.name.split("::").length));
  });
  ok(deep >= 5, `only ${deep} deep`);
});

test("events bubble from the picture", async ({ tab, page }) => {
  await page("mnist.html");
  const told = await tab.evaluate(async () => {
    const found = [];
    for (const name of ["select", "open", "state"]) document.body.addEventListener(`tbgraph:${name}`, (event) => found.push(event.type));
    await window.tbgraph.open("conv1");
    await window.tbgraph.select("conv1/pool");
    return [...new Set(found)].sort();
  });
  equal(told, ["tbgraph:open", "tbgraph:select", "tbgraph:state"]);
});

test("a damaged block is told and the rest is shown", async ({ tab, page }) => {
  await page("damaged.html");
  await seen(node(tab, "conv1"));
  await node(tab, "conv1").click();
  await card(tab).getByRole("heading", { name: "conv1" }).waitFor();
});

test(
  "a finger chooses, and the card is a sheet from below",
  async ({ tab, page }) => {
    await page("mnist.html");
    await node(tab, "conv1").tap();
    await eventually(async () => {
      const sheet = await card(tab).boundingBox();
      ok(sheet?.y > 300 && sheet.width > 380, JSON.stringify(sheet));
    });
    await card(tab).getByRole("button", { name: "Close details" }).click();
    await gone(card(tab));
    await tab.keyboard.press("0");
    const lowest = (await tab.evaluate(() => window.tbgraph.scene())).boxes.filter((box) => !box.open).sort((one, other) => other.y - one.y)[0].name;
    await node(tab, lowest).tap();
    await card(tab).getByRole("heading", { name: lowest, exact: true }).waitFor();
    await until(async () => {
      const [box, over] = [await node(tab, lowest).boundingBox(), await card(tab).boundingBox()];
      return box.y + box.height <= over.y;
    }, `${lowest} stays above the sheet`);
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
);

test("a node goes to the auxiliary area and comes back, and nothing else moves", async ({ tab, page }) => {
  await page("mnist.html");
  const before = await tab.evaluate(() => window.tbgraph.scene());
  await node(tab, "fc2").click();
  await card(tab).getByRole("button", { name: "To the auxiliary area" }).click();
  await until(async () => (await tab.evaluate(() => location.hash)).includes("aux=fc2"));
  const moved = await tab.evaluate(() => window.tbgraph.scene());
  const at = (scene, name) => scene.boxes.find((box) => box.name === name);
  ok(!moved.lines.some((line) => line.from === "fc2" || line.to === "fc2"), "its lines are stubs now");
  await until(async () => (await tab.locator('[data-stub="fc2"]').count()) > 0);
  for (const one of ["conv1", "conv2", "train"]) {
    for (const other of ["conv1", "conv2", "train"]) {
      equal(at(moved, one).y < at(moved, other).y, at(before, one).y < at(before, other).y, `${one} above ${other}`);
    }
  }
  await card(tab).getByRole("button", { name: "To the main graph" }).click();
  await until(async () => !(await tab.evaluate(() => location.hash)).includes("aux="));
  await becomes(() => tab.evaluate(() => window.tbgraph.scene()), before);
});

test("a hub comes back with its lines, by keyboard", async ({ tab, page }) => {
  await page("hub.html");
  const away = await tab.evaluate(async () => {
    const names = [...document.querySelectorAll("g.node")].map((one) => one.dataset.name);
    return names;
  });
  ok(away.includes("init"), away.join());
  const lines = async () => (await tab.evaluate(() => window.tbgraph.scene())).lines.filter((line) => line.to === "init" || line.from === "init").length;
  await becomes(lines, 0);
  await tab.evaluate(() => window.tbgraph.select("init"));
  await tab.getByRole("tree", { name: /^Graph/ }).focus();
  await tab.keyboard.press("m");
  await until(async () => (await lines()) > 0);
  await tab.keyboard.press("m");
  await until(async () => (await lines()) === 0);
});

test("the context menu offers what can be done", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "fc1").hover();
  await tab.getByRole("tooltip").waitFor();
  await node(tab, "fc1").click({ button: "right" });
  await seen(tab.getByRole("menuitem").first());
  await gone(tab.getByRole("tooltip"), "nothing lies over the menu");
  await tab.getByRole("menuitem", { name: "Trace inputs" }).click();
  await until(async () => (await tab.locator(".faded").count()) > 0);
  await tab.keyboard.press("Escape");
  await node(tab, "conv1").click({ button: "right" });
  await tab.getByRole("menuitem", { name: "Open all inside" }).click();
  await until(async () => (await boxes(tab)).includes("conv1/weights/summaries"));
  await card(tab).getByRole("button", { name: "Close all" }).click();
  await until(async () => !(await boxes(tab)).includes("conv1/weights/summaries"));
  await card(tab).getByRole("button", { name: "Close", exact: true }).click();
  await until(async () => !(await boxes(tab)).includes("conv1/weights"));
});

test("statistics colour the picture, step by step", async ({ tab, page }) => {
  await page("paces.html");
  const fill = () => tab.evaluate(() => document.querySelector('g.node[data-name="conv1"] > rect').getAttribute("fill"));
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("compute-time");
  await until(async () => !["#77AADD", "#EAEEF2"].includes(await fill()), "it has the colour of its time");
  await tab.getByRole("region", { name: "Legend" }).getByText("0 µs").waitFor();
  await tab.getByRole("combobox", { name: "Step" }).selectOption({ index: 2 });
  await until(async () => (await tab.evaluate(() => location.hash)).includes("step="));
  await until(async () => /^#/.test(await fill()), "it has a colour of this step");
  const places = () => tab.evaluate(() => ({ at: [...document.querySelectorAll("g.node rect")].map((one) => one.getAttribute("width") + one.getAttribute("x")), same: window.first === document.querySelector('g.node[data-name="conv1"]') }));
  const before = await places();
  await tab.evaluate(() => (window.first = document.querySelector('g.node[data-name="conv1"]')));
  const all = () => tab.evaluate(() => [...document.querySelectorAll("g.node")].map((one) => one.innerHTML).join());
  const looks = await all();
  await tab.getByRole("combobox", { name: "Step" }).selectOption({ index: 1 });
  await until(async () => (await all()) !== looks, "another step has other colours or numbers");
  await becomes(async () => JSON.stringify(await places()), JSON.stringify({ ...before, same: true }), "nothing moves, nothing is made anew");
  await tab.getByRole("button", { name: "Outline", exact: true }).click();
  const figures = () => tab.locator("#outline .count").allTextContents();
  await until(async () => (await figures()).some((one) => one.includes("ms")), "the outline has the figures of the step");
  const said = (await figures()).join();
  await tab.getByRole("combobox", { name: "Step" }).selectOption({ index: 2 });
  await until(async () => (await figures()).join() !== said, "and then those of the other");
  await node(tab, "conv1").click();
  await card(tab).getByRole("table", { name: "Statistics" }).getByText("ms").first().waitFor();
});

test("a trace compared with another has the colours that render gives it, of what is shown", async ({ tab, page, folder }) => {
  await page("against.html");
  for (const [open, fills, legend] of JSON.parse(require("node:fs").readFileSync(`${folder}/against.json`, "utf8"))) {
    await tab.evaluate((open) => window.tbgraph.state({ open }), open);
    await tab.keyboard.press("0");
    const near = (one, other) => [1, 3, 5].every((at) => Math.abs(parseInt(one.slice(at, at + 2), 16) - parseInt(other.slice(at, at + 2), 16)) <= 3);
    await eventually(async () => {
      const found = await tab.locator("g.node.closed").evaluateAll((all) => all.map((one) => [one.dataset.name, one.querySelector("rect")?.getAttribute("fill")]));
      const filled = found.filter(([, fill]) => /^#/.test(fill ?? ""));
      ok(filled.length > 3, `${filled.length} of ${found.length}`);
      for (const [name, fill] of filled) ok(near(fill, fills[name]), `${open} ${name}: ${fill}, not ${fills[name]}`);
      const said = await tab.getByRole("region", { name: "Legend" }).locator("text").allTextContents();
      for (const label of legend) ok(said.includes(label), `${label} in ${said}`);
    });
  }
});

test("the minimap shows the window and moves it", async ({ tab, page }) => {
  await page("mnist.html");
  const map = await tab.getByRole("img", { name: "Minimap" }).boundingBox();
  const at = () => tab.evaluate(async () => (await window.tbgraph.state()).at);
  for (let turn = 0; turn < 4; turn++) await tab.keyboard.press("+");
  await settled(tab);
  const before = await at();
  await tab.mouse.move(map.x + 90, map.y + 100);
  await tab.mouse.down();
  await tab.mouse.move(map.x + 60, map.y + 40, { steps: 3 });
  await tab.mouse.up();
  await until(async () => (await at()) !== before);
});

test(
  "a large picture is drawn in part, and far away coarsely",
  async ({ tab, page }) => {
    await page("mnist.html");
    await tab.evaluate(async () => {
      for (const name of ["conv1", "conv2", "fc1", "fc2", "train", "train/gradients"]) await window.tbgraph.open(name);
    });
    const all = (await boxes(tab)).length;
    await tab.keyboard.press("0");
    for (let at = 0; at < 9; at++) await tab.keyboard.press("+");
    await until(async () => (await tab.locator("g.node").count()) < all / 2);
  },
);

test("functions are chosen as graphs of their own", async ({ tab, page }) => {
  await page("recursive.html");
  const chooser = tab.getByRole("combobox", { name: "Graph", exact: true });
  const names = await chooser.locator("option").allTextContents();
  ok(names.length > 1, names.join());
  await chooser.selectOption({ index: 1 });
  await card(tab).getByRole("heading", { name: names[1], exact: true }).waitFor();
  await until(async () => (await tab.evaluate(() => window.tbgraph.scene())).boxes.some((box) => box.name === names[1] && box.open), names[1]);
});

test("what is printed is the whole picture, with title and legend", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1&at=5000,5000,1");
  await tab.emulateMedia({ media: "print" });
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const sheet = tab.getByRole("img", { name: /mnist/ });
  for (const text of ["mnist_cnn.pbtxt", "conv1", "convolution"]) await seen(sheet.locator("text").filter({ hasText: text }).first(), text);
  await gone(tab.getByRole("banner"));
});

test("a picture fits beside the minimap", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1,conv2,fc1,fc2");
  await seen(node(tab, "conv1/pool"));
  const map = await tab.getByRole("img", { name: "Minimap" }).boundingBox();
  await becomes(() => tab.locator("g.node").evaluateAll((all, map) => all.filter((one) => {
    const box = one.getBoundingClientRect();
    return box.right > map.x + 2 && box.bottom > map.y + 2;
  }).length, map), 0);
});

test("in a notebook it works in a frame that shares nothing", async ({ tab, folder }) => {
  await tab.goto(`file://${folder}/notebook.html`);
  const frame = tab.frameLocator("iframe");
  await frame.locator('g.node[data-name="conv1"]').dblclick();
  await frame.locator('g.node[data-name="conv1/pool"]').waitFor();
  await frame.locator('g.node[data-name="conv1/pool"]').click();
  await frame.getByRole("complementary", { name: "Details" }).getByRole("heading", { name: "conv1/pool" }).waitFor();
  await frame.getByLabel("Share").click();
  await frame.getByRole("button", { name: "Copy link" }).click();
  await seen(frame.getByText(/^Link copied/));
  await becomes(() => tab.evaluate(() => window.frames[0].length), 0);
}, { alone: true });

test("in a frame that is shown late it is fitted then", async ({ tab, folder, context }) => {
  await context.addInitScript(() => window === top && addEventListener("DOMContentLoaded", () => (document.documentElement.style.display = "none")));
  await tab.goto(`file://${folder}/notebook.html`);
  await until(() => tab.frames()[1].evaluate(() => window.tbgraph.ready.then(() => true)));
  await tab.evaluate(() => (document.documentElement.style.display = ""));
  await seen(tab.frameLocator("iframe").locator('g.node[data-name="conv1"]'));
});

test("the browser goes back and forward through views", async ({ tab, page }) => {
  await page("mnist.html");
  const before = await boxes(tab);
  await node(tab, "conv1").dblclick();
  await until(async () => (await boxes(tab)).includes("conv1/pool"));
  await tab.goBack();
  await until(async () => JSON.stringify(await boxes(tab)) === JSON.stringify(before), "back");
  await tab.goForward();
  await until(async () => (await boxes(tab)).includes("conv1/pool"), "forward");
});

test("a trackpad pinches in Safari too", async ({ tab, page }) => {
  await page("mnist.html");
  const [x, y] = await middle(node(tab, "conv1"));
  const before = (await node(tab, "conv1").boundingBox()).width;
  const kept = await tab.evaluate(([clientX, clientY]) => {
    const tell = (type, scale) => document.getElementById("stage").dispatchEvent(Object.assign(new Event(type, { cancelable: true }), { scale, clientX, clientY }));
    return [tell("gesturestart", 1), tell("gesturechange", 1.2), tell("gesturechange", 1.5)];
  }, [x, y]);
  equal(kept, [false, false, false], "the page itself stays as large as it is");
  await until(async () => Math.abs((await node(tab, "conv1").boundingBox()).width / before - 1.5) < 0.05, "half as large again");
  await until(async () => {
    const [zx, zy] = await middle(node(tab, "conv1"));
    return Math.hypot(zx - x, zy - y) < 3;
  }, "under the fingers");
});
