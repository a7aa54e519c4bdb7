// Each gesture on a small graph with statistics and on a training graph of 6,000 nodes, as a person makes it.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const scene = (tab) => tab.evaluate(() => window.tbgraph.scene());
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));
const names = async (tab) => (await scene(tab)).boxes.map((box) => box.name);
/** A closed group, one of its ops, the hub that stands aside, and a node to move: what the two graphs call them. */
const SMALL = { group: "conv1", op: "conv1/pool", type: "MaxPool", attribute: "padding=SAME", file: /mnist/ };
const LARGE = { group: "loss", op: null, type: "MatMul", attribute: "T=float32", file: /page|big/ };

/** Something on both pages, one after the other in one tab. */
async function each(page, pages, run) {
  for (const file of pages) {
    await page(file);
    try {
      await run(file === "big.html" ? LARGE : SMALL);
    } catch (error) {
      throw new Error(`${file}: ${error.stack ?? error}`);
    }
  }
}

/** Click a node, and wait until it is chosen: a key means what is. */
async function choose(tab, name) {
  await node(tab, name).click();
  await seen(card(tab).getByRole("heading", { name, exact: true }));
}

/** Click the title of an open group. */
async function clickTitle(tab, name) {
  const box = await node(tab, name).boundingBox();
  await tab.mouse.click(box.x + Math.min(20, box.width / 3), box.y + 6);
}

test("both: the wheel, a drag, keys and the minimap move the picture and nothing in it", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    const before = JSON.stringify(await scene(tab));
    const middle = async () => {
      const box = await node(tab, group).boundingBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = await middle();
    await tab.mouse.move(x, y);
    const { width } = await node(tab, group).boundingBox();
    await tab.mouse.wheel(0, -240);
    await until(async () => (await node(tab, group).boundingBox()).width > 1.2 * width, "larger");
    await until(async () => (await hash(tab)).includes("at="));
    const [zx, zy] = await middle();
    ok(Math.hypot(zx - x, zy - y) < 4, "the wheel zooms about the pointer");
    await tab.mouse.move(330, 110);
    await tab.mouse.down();
    await tab.mouse.move(390, 150, { steps: 4 });
    await tab.mouse.up();
    await eventually(async () => {
      const [px, py] = await middle();
      ok(Math.abs(px - zx - 60) < 3 && Math.abs(py - zy - 40) < 3, `a drag pans, ${px - zx}, ${py - zy}`);
    });
    const at = () => tab.evaluate(async () => (await window.tbgraph.state()).at);
    for (const key of ["+", "-", "-", "-"]) {
      const was = await at();
      await tab.keyboard.press(key);
      await until(async () => (await at()) !== was, key);
    }
    await tab.getByRole("button", { name: "Fit" }).click();
    await until(async () => Math.hypot(...(await middle()).map((one, axis) => one - [x, y][axis])) < 4, "the button fits again");
    for (let turn = 0; turn < 3; turn++) await tab.getByRole("button", { name: "Zoom in" }).click();
    await settled(tab);
    const was = await at();
    const map = await tab.getByRole("img", { name: "Minimap" }).boundingBox();
    await tab.mouse.click(map.x + map.width / 2, map.y + map.height * 0.25);
    await until(async () => (await at()) !== was, "the minimap moves the window");
    await becomes(async () => JSON.stringify(await scene(tab)), before);
  });
});

test("both: a group opens and closes by double click, Enter, card and menu, and views go back and forth", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    const before = await names(tab);
    const inside = async () => (await names(tab)).some((name) => name.startsWith(`${group}/`));
    await node(tab, group).dblclick();
    await until(inside, "double click");
    await becomes(() => node(tab, group).getAttribute("aria-expanded"), "true");
    await until(async () => (await names(tab)).filter((name) => before.includes(name)).length === before.length, "all others stay");
    await tab.goBack();
    await until(async () => !(await inside()), "the browser goes back");
    await tab.goForward();
    await until(inside, "and forward");
    await clickTitle(tab, group);
    await seen(card(tab).getByRole("heading", { name: group, exact: true }));
    await tab.keyboard.press("Enter");
    await until(async () => !(await inside()), "Enter closes");
    await becomes(() => names(tab), before);
    await card(tab).getByRole("button", { name: "Open all inside" }).click();
    await until(inside, "all inside");
    await card(tab).getByRole("button", { name: "Close all" }).click();
    await card(tab).getByRole("button", { name: "Close", exact: true }).click();
    await until(async () => JSON.stringify(await names(tab)) === JSON.stringify(before), "closed again");
    await node(tab, group).click({ button: "right" });
    await tab.getByRole("menuitem", { name: "Open", exact: true }).click();
    await until(inside, "the menu opens");
  });
});

test("both: hovering and choosing bring out the lines, the tooltip has the full name, and so has the card", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    const out = () => tab.locator("#picture path.chosen, #picture [data-layer=chosen] path, #picture g.chosen path").count();
    const drawn = await out();
    await node(tab, group).hover();
    const tip = tab.getByRole("tooltip");
    await tip.filter({ hasText: group }).waitFor();
    await until(async () => (await out()) > drawn, "its lines stand out");
    await tab.mouse.move(330, 80);
    await becomes(out, drawn, "and go back");
    await gone(tip);
    await choose(tab, group);
    await until(async () => (await out()) > drawn, "they stay out");
    await tab.keyboard.press("Escape");
    await gone(card(tab));
  });
});

test("both: the card counts ops, shows what crosses the border, and leads to what it names", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group, op, type }) => {
    await node(tab, group).click();
    for (const name of ["Inputs", "Op types", "Statistics"]) await card(tab).getByRole("table", { name }).waitFor();
    const found = op ?? (await tab.evaluate((type) => window.tbgraph.find(type).then((all) => all.find((one) => one.endsWith(type))), type));
    await tab.evaluate((found) => window.tbgraph.select(found), found);
    await tab.evaluate(() => window.tbgraph.find(""));
    await card(tab).getByRole("table", { name: "Attributes" }).getByText("T", { exact: true }).first().waitFor();
    const link = card(tab).getByRole("table", { name: "Inputs" }).getByRole("button").first();
    const name = (await link.textContent()).trim();
    await link.click();
    await card(tab).getByRole("heading", { name, exact: true }).waitFor();
    await seen(node(tab, name).or(tab.locator("g.stub")).first());
  });
});

test("both: find takes names, types, attributes and expressions, and walks through what it found", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group, type, attribute }) => {
    const find = tab.getByRole("searchbox", { name: "Find" });
    const told = tab.locator("#hit-count");
    const hits = tab.getByRole("listbox", { name: "Find" }).getByRole("option");
    await tab.keyboard.press("/");
    for (const text of [group, type, attribute, `/^${group}$/`]) {
      await find.fill(text);
      await until(async () => /^[\d\u2009]+ found/.test((await told.textContent()).trim()), text);
      await until(async () => (await hits.count()) > 0, text);
    }
    await becomes(async () => (await told.textContent()).trim().split(" ")[0], "1");
    await find.fill("/(/");
    await until(async () => (await hits.count()) === 0, "no expression, nothing found");
    await find.fill(type);
    const walked = new Set();
    for (let turn = 0; turn < 3; turn++) {
      await find.press("Enter");
      await until(async () => !walked.has(await card(tab).getByRole("heading").first().textContent()));
      walked.add(await card(tab).getByRole("heading").first().textContent());
    }
    await tab.keyboard.press("Escape");
    await tab.keyboard.press("Escape");
  });
});

test("both: a trace goes a hop, further, all the way, and ends", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    await node(tab, group).click();
    await card(tab).getByRole("button", { name: "Trace outputs" }).click();
    await tab.getByRole("status").filter({ hasText: new RegExp(`^Outputs of ${group} · `) }).waitFor();
    const faded = () => tab.locator("g.node.faded").count();
    await until(faded);
    const once = await faded();
    await tab.getByRole("combobox", { name: "How far" }).selectOption("3");
    await until(async () => (await hash(tab)).includes(`trace=out-3:${group}`));
    await until(async () => (await faded()) <= once, "a wider trace fades less");
    await tab.keyboard.press("Shift+O");
    await until(async () => (await hash(tab)).includes(`trace=out-all:${group}`));
    await tab.getByRole("button", { name: "End trace" }).click();
    await until(async () => (await faded()) === 0);
  });
});

test("both: every colouring paints and explains itself, in both themes", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    const chooser = tab.getByRole("combobox", { name: "Colour by" });
    const schemes = await chooser.locator("option").evaluateAll((all) => all.map((one) => one.value));
    ok(schemes.length >= 6, schemes.join());
    const looks = new Set();
    for (const theme of ["light", "dark"]) {
      await set(tab, "Theme", theme);
      await until(async () => (await tab.evaluate(() => document.documentElement.dataset.theme)) === theme);
      for (const scheme of schemes) {
        await chooser.selectOption(scheme);
        await until(async () => (await hash(tab)).includes(`colour=${scheme}`) || scheme === "structure", scheme);
        await settled(tab);
        looks.add((await node(tab, group).innerHTML()) + (await tab.getByRole("region", { name: "Legend" }).innerHTML()));
        if (scheme !== "none") await until(() => tab.getByRole("region", { name: "Legend" }).locator("text").count(), `${scheme} has a legend`);
      }
    }
    ok(looks.size > schemes.length, `${looks.size} looks`);
  });
});

test("both: a node moves aside and back by key, menu and card; its stubs are marked with it", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    const before = JSON.stringify(await scene(tab));
    await choose(tab, group);
    await tab.keyboard.press("m");
    await until(async () => (await hash(tab)).includes(`aux=${group}`), "m");
    await until(async () => {
      const [box, over] = [await node(tab, group).boundingBox(), await card(tab).boundingBox()];
      return box.x + box.width <= over.x;
    }, "it does not lie under its card");
    const stubs = tab.locator(`g.stub[data-stub="${group}"]`);
    await until(() => stubs.count(), "stubs stand for its lines");
    await until(() => stubs.evaluateAll((all) => all.every((one) => one.classList.contains("twin"))), "all are marked");
    await tab.keyboard.press("Escape");
    await until(async () => !(await stubs.first().evaluate((one) => one.classList.contains("twin"))), "and no longer");
    await stubs.first().click();
    await card(tab).getByRole("heading", { name: group, exact: true }).waitFor();
    await becomes(() => node(tab, group).getAttribute("aria-selected"), "true", "a stub leads to its node");
    await node(tab, group).click({ button: "right" });
    await tab.getByRole("menuitem", { name: "To the main graph" }).click();
    await until(async () => JSON.stringify(await scene(tab)) === before, "back where it was");
    await card(tab).getByRole("button", { name: "To the auxiliary area" }).click();
    await until(async () => (await hash(tab)).includes(`aux=${group}`), "by the card");
  });
});

test("both: the link, the address and the print hold what is shown", async ({ tab, page, context }) => {
  await each(page, ["steps.html", "big.html"], async ({ group, file }) => {
    await tab.evaluate((group) => window.tbgraph.open(group), group);
    await clickTitle(tab, group);
    await tab.getByRole("combobox", { name: "Colour by" }).selectOption("op-type");
    await until(async () => (await hash(tab)).includes("colour=op-type"));
    await tab.getByLabel("Share").click();
    await tab.getByRole("button", { name: "Copy link" }).click();
    const copied = () => tab.evaluate(() => navigator.clipboard.readText());
    await until(async () => (await copied()) === (await tab.evaluate(() => location.href)), "the link is that of the view");
    const link = await copied();
    const other = await context.newPage();
    await other.goto(link);
    await other.evaluate(() => window.tbgraph.ready);
    await becomes(() => scene(other), await scene(tab));
    await card(other).getByRole("heading", { name: group, exact: true }).waitFor();
    await becomes(() => other.getByRole("combobox", { name: "Colour by" }).inputValue(), "op-type");
    await other.close();
    await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await tab.emulateMedia({ media: "print" });
    const sheet = tab.locator("#print svg");
    await seen(sheet);
    await until(async () => (await sheet.locator("[data-name]").count()) > 5);
    await seen(sheet.locator("text").filter({ hasText: file }).first(), "the title");
    await tab.emulateMedia({ media: "screen" });
    await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  });
}, { alone: true });

test("both: saved pictures are whole, whatever part is on the screen", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    await tab.evaluate(async (group) => {
      await window.tbgraph.open(group);
      await window.tbgraph.state({ ...(await window.tbgraph.state()), at: "5000,5000,2" });
    }, group);
    const asked = async (name) => (await saved(tab, () => tab.getByRole("button", { name }).click())).data;
    await tab.getByLabel("Share").click();
    const svg = String(await asked("Save SVG"));
    const { boxes, width, height } = await scene(tab);
    equal((svg.match(/data-name=/g) ?? []).length >= boxes.length, true, "every box");
    const png = await asked("Save PNG");
    const [wide, tall] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    ok(Math.abs(wide / tall - Number(/width="(\d+)"/.exec(svg)[1]) / Number(/height="(\d+)"/.exec(svg)[1])) < 0.01, `${wide}×${tall} of ${width}×${height}`);
  });
});

test("both: the outline is the same tree, by mouse and by keyboard", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    await tab.getByRole("button", { name: "Outline" }).click();
    const outline = tab.getByRole("tree", { name: "Outline" });
    const line = outline.getByRole("treeitem", { name: group, exact: true }).first();
    await line.click();
    await card(tab).getByRole("heading", { name: group, exact: true }).waitFor();
    await line.focus();
    await tab.keyboard.press("ArrowRight");
    await until(async () => (await names(tab)).some((name) => name.startsWith(`${group}/`)), "the right arrow opens");
    await until(async () => (await outline.getByRole("treeitem").count()) > 3);
    await tab.getByRole("button", { name: "Outline" }).click();
    await gone(outline);
  });
});

test("both: all by keyboard, and what is chosen is in view", async ({ tab, page }) => {
  await each(page, ["steps.html", "big.html"], async ({ group }) => {
    await tab.evaluate((group) => window.tbgraph.select(group), group);
    await tab.getByRole("tree", { name: /^Graph/ }).focus();
    const chosen = () => tab.evaluate(async () => (await window.tbgraph.state()).select);
    await tab.keyboard.press("Enter");
    await until(async () => (await names(tab)).some((name) => name.startsWith(`${group}/`)));
    for (const key of ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"]) await tab.keyboard.press(key);
    const inner = (await names(tab)).find((name) => name.startsWith(`${group}/`)); // the arrows did what they do by then
    await tab.evaluate((inner) => window.tbgraph.select(inner), inner);
    await tab.keyboard.press("Alt+ArrowUp");
    await until(async () => (await chosen()) === group, "to the parent");
    await tab.keyboard.press("Alt+ArrowDown");
    await until(async () => (await chosen()).startsWith(`${group}/`), "into the open group");
    await tab.keyboard.press("Alt+ArrowUp");
    await until(async () => (await chosen()) === group, "out of it again");
    await settled(tab);
    await tab.keyboard.press("f");
    await until(async () => {
      const box = await node(tab, group).boundingBox();
      return box && box.x >= 0 && box.y >= 40 && box.x + box.width <= 1440 && box.y + box.height <= 900;
    }, "f fits it");
    await tab.keyboard.press("ContextMenu");
    await tab.getByRole("menuitem").first().waitFor();
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("Escape");
    await gone(tab.getByRole("menuitem").first());
  });
});
