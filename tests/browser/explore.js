// What stopped somebody who did not know the page: each test is a thing they tried.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const find = (tab) => tab.getByRole("searchbox", { name: "Find" });
const hash = (tab) => tab.evaluate(() => decodeURIComponent(location.hash));
const names = (tab) => tab.evaluate(async () => (await window.tbgraph.scene()).boxes.map((box) => box.name));
const count = (tab, text) => tab.evaluate(async (text) => (await window.tbgraph.find(text)).length, text);
const state = (tab) => tab.evaluate(() => window.tbgraph.state());

test("a weight that is found shows the op beside which it stands", async ({ tab, page }) => {
  await page("mnist.html");
  await find(tab).fill("conv1/weights/Variable/read");
  await find(tab).press("Enter");
  await card(tab).getByRole("heading", { name: "conv1/weights/Variable/read", exact: true }).waitFor();
  const host = node(tab, "conv1/Wx_plus_b/Conv2D");
  await until(async () => (await host.count()) === 1 && (await host.getAttribute("aria-selected")) === "true", "the op is outlined");
  await until(async () => {
    const [ring, box] = [await tab.locator(".ring").boundingBox(), await host.boundingBox()];
    return ring.x <= box.x && ring.x + ring.width >= box.x + box.width;
  }, "the ring is around it");
  await becomes(() => tab.locator('g.stub.found[data-of="conv1/Wx_plus_b/Conv2D"]').count(), 1, "the weight itself is marked");
  await until(() => host.evaluate((one) => one.classList.contains("found")), "and so is the op");
});

test("find looks in one field alone", async ({ tab, page }) => {
  await page("mnist.html");
  const all = await count(tab, "MaxPool");
  const types = await count(tab, "op:MaxPool");
  ok(types >= 2 && types < all + 1, `${types} of ${all}`);
  await becomes(() => count(tab, "op:conv1"), 0, "no op type has this name");
  await until(async () => (await count(tab, "name:conv1")) > 10);
  await becomes(() => count(tab, "op:/^MaxPool$/"), 2);
  await becomes(() => count(tab, "name:SAME"), 0);
  await until(async () => (await count(tab, "attr:padding=SAME")) >= 4);
  await becomes(() => count(tab, "key: padding=SAME"), await count(tab, "attr:padding=SAME"));
  await until(async () => (await find(tab).getAttribute("placeholder")).includes("op:"), "it is told");
  const both = (await count(tab, "op:Conv2D")) + (await count(tab, "op:MaxPool"));
  await becomes(() => count(tab, "op:Conv2D or op:MaxPool"), both);
  await becomes(() => count(tab, "(op:Conv2D or op:MaxPool) not name:conv1"), both / 2);
  await until(async () => (await count(tab, "params>1k op:VariableV2")) >= 1, "numbers are compared");
  await becomes(() => count(tab, "op:MaxPool shape:?x14x14x4"), 1);
  await find(tab).fill("(op:Conv2D");
  await tab.getByRole("status").filter({ hasText: /is not closed/ }).waitFor();
  await find(tab).fill("op:MaxPool");
  await find(tab).press("Enter");
  await tab.getByRole("status").filter({ hasText: /^1 of 2/ }).waitFor();
  await find(tab).fill("nowhere at all");
  await tab.getByRole("status").filter({ hasText: /Nothing found.*op:/ }).waitFor();
});

test("each thing done is a step of its own when the browser goes back", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv1").dblclick();
  await until(async () => (await names(tab)).includes("conv1/pool"));
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("op-type");
  await until(async () => (await hash(tab)).includes("colour=op-type"));
  await tab.goBack();
  await until(async () => (await state(tab)).colour === undefined, "the colour goes");
  await until(async () => (await names(tab)).includes("conv1/pool"), "the group stays open");
  await tab.goBack();
  await until(async () => !(await names(tab)).includes("conv1/pool"), "then it closes");
  await becomes(async () => (await state(tab)).select, "conv1");
  await tab.goBack();
  await until(async () => (await state(tab)).select === undefined, "then nothing is chosen");
  await gone(card(tab), "nor told");
  await becomes(() => node(tab, "conv1").getAttribute("aria-selected"), "false");
  await tab.goForward();
  await tab.goForward();
  await tab.goForward();
  await until(async () => (await hash(tab)).includes("colour=op-type") && (await names(tab)).includes("conv1/pool"), "and forward");
});

test("choosing one node after the other is one step", async ({ tab, page }) => {
  await page("mnist.html");
  for (const name of ["conv1", "conv2", "fc1"]) {
    await node(tab, name).click();
    await card(tab).getByRole("heading", { name, exact: true }).waitFor();
  }
  await tab.goBack();
  await until(async () => (await state(tab)).select === undefined);
});

test("a link to another graph leaves the picture as it is and says so", async ({ tab, page }) => {
  await page("mnist.html");
  const [before, place] = [await names(tab), await node(tab, "conv1").boundingBox()];
  await tab.goto("about:blank");
  await page("mnist.html", "open=not/here,nor/there&select=nosuch/thing&colour=pink&at=9000,9000,3");
  await becomes(() => names(tab), before);
  await becomes(() => node(tab, "conv1").boundingBox(), place);
  const told = await tab.getByRole("status").filter({ hasText: "not/here" }).textContent();
  for (const name of ["nor/there", "nosuch/thing", "pink"]) ok(told.includes(name), told);
  ok(/^This link .*\.$/.test(told), "a sentence");
});

test("a link to where no picture can be shows the whole picture", async ({ tab, page }) => {
  await page("mnist.html");
  const place = await node(tab, "conv1").boundingBox();
  for (const at of ["1e308,1e308,1e308", "-1e300,0,1", "0,1e10,1", "NaN,0,1"]) {
    await tab.goto("about:blank");
    await page("mnist.html", `at=${at}`);
    await becomes(() => node(tab, "conv1").boundingBox(), place);
  }
});

test("of a link to an older graph, what is still there is opened", async ({ tab, page }) => {
  await page("mnist.html", "open=conv1/weights/gone,conv2");
  await until(async () => {
    const shown = await names(tab);
    return shown.includes("conv1/weights/Variable") && shown.includes("conv2/pool");
  }, "the groups around what is gone");
  await tab.getByRole("status").filter({ hasText: "conv1/weights/gone" }).waitFor();
});

test("a trace leaves no line bright that it does not go along", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "fc1").click();
  await becomes(async () => (await state(tab)).select, "fc1");
  await tab.keyboard.press("Shift+I");
  await tab.getByRole("status").filter({ hasText: /^Inputs of fc1/ }).waitFor();
  const edge = (from, to) => tab.locator(`g.line[data-from="${from}"][data-to="${to}"]`);
  await becomes(() => edge("conv2", "reshape").or(edge("conv2", "fc1")).first().evaluate((one) => one.classList.contains("faded")), false, "a line of the trace");
  await eventually(async () => {
    const bright = await tab.locator("g.line:not(.faded)").evaluateAll((all) => all.map((one) => [one.dataset.from, one.dataset.to]));
    ok(bright.every(([from]) => !from.startsWith("fc1") && !from.startsWith("train")), JSON.stringify(bright));
    const drawn = await tab.evaluate(() => document.querySelectorAll("#world > .chosen > g").length);
    const into = await tab.locator('g.line[data-to="fc1"]').count();
    ok(drawn <= into, `${drawn} lines in front, ${into} into it: those out of it stay back`);
  });
});

test("the bar of a trace lies on nothing that it reached", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv1").click();
  await becomes(async () => (await state(tab)).select, "conv1");
  await tab.keyboard.press("Shift+O");
  await tab.getByRole("status").filter({ hasText: /^Outputs of conv1/ }).waitFor();
  await until(async () => {
    const bar = await tab.getByRole("group", { name: "How far" }).boundingBox();
    const rects = await tab.locator("g.node.closed:not(.faded)").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    return rects.length > 1 && rects.every(({ top, bottom, left, right }) => top >= bar.y + bar.height || bottom <= bar.y || left >= bar.x + bar.width || right <= bar.x);
  }, "all that it reached is free");
});

test("what is chosen comes out from under the minimap, the legend and the card", async ({ tab, page }) => {
  await page("mnist.html");
  const apart = (one, other) => one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
  for (const [panel, dx, dy] of [["#corner", 0.4, 0.5], ["#legend", 0.5, 0.5]]) {
    const over = await tab.locator(panel).boundingBox();
    await tab.evaluate(async ([x, y]) => {
      const box = (await window.tbgraph.scene()).boxes.find((one) => one.name === "conv1");
      const at = [720 - x + box.x + box.width / 2, 426 - y + 48 + box.y + box.height / 2, 852]; // the box lies at (x, y) then
      await window.tbgraph.state({ at: at.join() });
    }, [over.x + over.width * dx, over.y + over.height * dy]);
    await until(async () => !apart(await node(tab, "conv1").boundingBox(), over), "it lies there");
    await tab.evaluate(() => window.tbgraph.select("conv1"));
    await until(async () => {
      const box = await node(tab, "conv1").boundingBox();
      const panels = await Promise.all(["#corner", "#legend", "#card"].map((one) => tab.locator(one).boundingBox()));
      return panels.every((one) => apart(box, one)) && box.y > 48 && box.y + box.height < 900;
    }, `out from under ${panel}`);
    await tab.evaluate(() => window.tbgraph.select(null));
  }
});

test("a box has one name, from near and from afar, closed and open", async ({ tab, page }) => {
  await page("renamed.html");
  const told = async (at) => {
    await tab.evaluate((at) => window.tbgraph.state().then((now) => window.tbgraph.state({ ...now, at })), at);
    return tab.evaluate(() => [...document.querySelectorAll('g.node[data-name="small_1"] text, g.head text')].map((one) => one.textContent));
  };
  for (const open of [[], ["small_1"]]) {
    await tab.evaluate((open) => window.tbgraph.state({ open }), open);
    for (const k of [1, 0.4, 0.15]) {
      const said = await told([320 / k, 326 / k, 852 / k].join()); // at a scale of k
      ok(!said.some((one) => one.endsWith("_1")), `${open} ${k}: ${said}`);
      if (open.length || k > 0.2) ok(said.includes("small"), `${open} ${k}: ${said}`);
    }
  }
});

test("a number that lacks something says so in the card", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "train").click();
  const row = (name) => card(tab).getByRole("table", { name: "Statistics" }).getByRole("row", { name });
  await row(/FLOPs\s*at least [\d.]+ MFLOPs/).waitFor();
  await seen(row(/FLOPs.*\d+ ops? not counted/), "and what it lacks");
  await seen(row(/Activations\s*at least .*unknown sizes count as 1/));
});

test("the legend lists every op type when it is asked to", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("combobox", { name: "Colour by" }).selectOption("op-type");
  const legend = tab.getByRole("region", { name: "Legend" });
  const more = legend.locator("button", { hasText: /^and \d+ more$/ });
  await until(() => more.count());
  const folded = await legend.locator("details:not([open])").count();
  if (folded) await legend.getByText("Legend").click();
  const words = () => legend.locator("text").evaluateAll((all) => all.map((one) => one.textContent));
  await until(async () => !(await words()).includes("Sqrt"), "not among the first ten");
  const count = Number(/\d+/.exec(await more.textContent())[0]);
  const before = (await words()).length;
  await more.click();
  await until(async () => (await words()).length >= before + count);
  await until(async () => (await words()).includes("Sqrt"));
  await legend.getByRole("button", { name: "Fewer" }).click();
  await until(async () => (await words()).length === before);
});

test("the page of two equal graphs says that they are", async ({ tab, page }) => {
  await page("rebuilt.html");
  await tab.getByRole("status").filter({ hasText: "The two graphs are the same." }).waitFor();
  await seen(tab.getByText(/names only renumbered/), "and what does not count");
  await becomes(() => tab.getByRole("button", { name: "Next change" }).count(), 0);
});

test("every box that a diff marks leads to its change", async ({ tab, page }) => {
  await page("consequences.html");
  await tab.evaluate(() => window.tbgraph.open("updates"));
  for (const name of ["adam", "updates"]) {
    await tab.evaluate((name) => window.tbgraph.select(name), name);
    await card(tab).getByRole("table", { name: /optimizer adam → sgd|Changes/ }).getByText(/optimizer adam → sgd/).first().waitFor();
  }
  await tab.getByText(/^Inputs that come from elsewhere now · \d+/).click();
  await tab.getByRole("button", { name: /AssignVariableOp: ReadVariableOp → nothing/ }).click();
  await card(tab).getByRole("heading", { name: "AssignVariableOp", exact: true }).waitFor();
});

test("the list of changes names boxes as the picture does, and says what the file calls them", async ({ tab, page }) => {
  await page("inserted.html");
  const change = tab.getByRole("list", { name: "Changes" }).getByRole("button").first();
  await until(async () => (await change.textContent()).includes("Conv2D(4, 1×1): small/extra "), "the list");
  await until(async () => (await change.getAttribute("title")).startsWith("Conv2D(4, 1×1): small_1/extra_1 "), "on hover");
  await until(async () => (await tab.locator('g.node[data-name="small_1/extra_1"]').textContent()).startsWith("extra"), "the picture");
});

test("any picture gets small enough to be seen as a whole", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.evaluate(() => window.tbgraph.state({ open: ["conv1", "conv2", "fc1", "fc2", "train/gradients"] }));
  await tab.setViewportSize({ width: 150, height: 110 });
  for (let turn = 0; turn < 30; turn++) await tab.keyboard.press("-");
  await until(async () => {
    await tab.keyboard.press("0"); // the first may come before the page knows how small it is
    const rects = await tab.locator("g.node").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    return rects.length > 3 && rects.every(({ left, right, top, bottom }) => left >= 0 && right <= 150 && top >= 40 && bottom <= 110);
  }, "all of it");
});

test("on a phone the bar of a trace is no higher than its words need", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv2").tap();
  await card(tab).getByRole("button", { name: "Trace outputs" }).tap();
  await eventually(async () => {
    const bar = await tab.getByRole("group", { name: "How far" }).boundingBox();
    ok(bar.height < 60 && bar.x >= 0 && bar.x + bar.width <= 390, JSON.stringify(bar));
  });
}, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

test("the legend speaks the reader's language, and names in it stay", async ({ tab, page }) => {
  await page("stack.html");
  const words = () => tab.locator("#legend text").evaluateAll((all) => all.map((one) => one.textContent));
  const english = await words();
  const signs = english.filter((one) => one.startsWith("repeated; open"));
  ok(english.includes("Signs") && signs.length === 1, english.join());
  await set(tab, "Language", "ko");
  await until(async () => (await words()).includes("기호"));
  const korean = await words();
  ok(korean.some((one) => one.includes("반복")) && !korean.includes("Signs") && !korean.includes(signs[0]), korean.join());
  equal(korean.length, english.length);
  ok(english.filter((one) => one.includes("like")).every((one) => korean.includes(one)), "names");
});

test("a failure of the program is no damage of the file, and can be closed", async ({ tab, page }) => {
  await tab.addInitScript(() => (console.error = () => {}));
  await page("failing.html");
  const told = tab.getByRole("status").filter({ hasText: "This picture could not be drawn: no room at all" });
  await told.waitFor();
  await tab.getByRole("button", { name: "Fit" }).click();
  await tab.getByRole("button", { name: "Zoom in" }).click();
  await told.getByRole("button", { name: "Close" }).click();
  await until(async () => (await told.evaluate((one) => getComputedStyle(one).opacity)) === "0", "it goes");
});

test("a tooltip that was read goes with a click or a key, until the pointer is elsewhere", async ({ tab, page }) => {
  await page("mnist.html");
  const tip = tab.getByRole("tooltip");
  for (const done of [() => tab.mouse.down().then(() => tab.mouse.up()), () => tab.keyboard.press("t")]) {
    const box = await node(tab, "conv1").boundingBox();
    await tab.mouse.move(box.x + 20, box.y + box.height / 2);
    await tip.waitFor();
    await done();
    await gone(tip);
    await settled(tab);
    const now = await node(tab, "conv1").boundingBox();
    await tab.mouse.move(now.x + 24, now.y + box.height / 2 + 1);
    await tab.mouse.move(now.x + 26, now.y + box.height / 2);
    await gone(tip, "nor does it come back at once");
    await node(tab, "conv2").hover();
    await tip.waitFor();
  }
});

test("the language is in the link, and is kept when the page is loaded anew", async ({ tab, page }) => {
  await page("mnist.html");
  await set(tab, "Language", "ko");
  await until(async () => (await hash(tab)).includes("language=ko"));
  await tab.reload();
  await tab.evaluate(() => window.tbgraph.ready);
  await seen(tab.getByLabel("설정"));
  await tab.goBack();
  await seen(tab.getByLabel("Settings"));
  await page("mnist.html", "language=xx");
  await tab.getByRole("status").filter({ hasText: /^This link .*xx/ }).waitFor();
});

test(
  "a small screen has room for all of the bar",
  async ({ tab, page }) => {
    for (const file of ["diff.html", "steps.html"]) {
      await page(file);
      const bar = await tab.locator("header").boundingBox();
      const parts = await tab.locator("header :is(button, select, summary, input)").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => [one.id || one.tagName, one.getBoundingClientRect().toJSON()]).filter(([, rect]) => rect.width));
      ok(parts.length >= 4, parts.length);
      equal([...new Set(parts.map(([, rect]) => rect.y + rect.height / 2))].length, 1, "one row");
      for (const [id, { height }] of parts) ok(id === "changes-button" || height >= 44, `${id}: room for a finger`);
      for (const [id, { left, right, bottom }] of parts) ok(left >= 0 && right <= 390 && bottom <= bar.y + bar.height, `${id} ${left} ${right} ${bottom}`);
      await tab.getByLabel("Share", { exact: true }).click();
      await until(async () => {
        const save = await tab.getByRole("button", { name: "Save SVG" }).boundingBox();
        return save.x >= 0 && save.x + save.width <= 390;
      }, "and for what it offers");
      await tab.getByLabel("Settings", { exact: true }).click();
      await gone(tab.getByRole("button", { name: "Save SVG" }), "one menu at a time");
      for (const name of ["Language", "Colour by"]) await seen(tab.getByRole("combobox", { name }));
      await until(async () => (await tab.locator("#stage").boundingBox()).y >= bar.y + bar.height - 1, "the picture is below it");
    }
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
);

test(
  "on a small screen the panel that was asked for last lies in front",
  async ({ tab, page }) => {
    await page("diff.html");
    const front = (name) => tab.evaluate((name) => {
      const panel = document.querySelector(`[aria-label="${name}"]:is(nav, aside)`);
      const { left, top, width, height } = panel.getBoundingClientRect();
      return panel.contains(document.elementFromPoint(left + width / 2, top + height - 20));
    }, name);
    await node(tab, "fc1").tap();
    await card(tab).waitFor();
    for (const name of ["Outline", "Changes"]) {
      await tab.getByRole("button", { name, exact: true }).tap();
      await until(() => front(name), name);
    }
    await tab.evaluate(() => window.tbgraph.select("fc2"));
    await until(() => front("Details"), "and the card again");
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
);

test("an op type means itself alone, a star all that are like it, two words both", async ({ tab, page }) => {
  await page("mnist.html");
  const exact = await count(tab, "op:conv2d");
  await becomes(() => count(tab, "op:/^Conv2D$/"), exact);
  const like = await count(tab, "op:Conv*");
  await becomes(() => count(tab, "op:/^Conv/"), like);
  ok(exact >= 2 && like > exact, `${exact} of ${like}`);
  await becomes(() => count(tab, "op:*pool"), await count(tab, "op:/Pool$/"));
  await becomes(() => count(tab, "op:Conv2D conv1"), 1);
  await becomes(() => count(tab, "conv1 op: Conv2D"), 1);
  await becomes(() => count(tab, "op:Conv2D attr:padding=SAME"), exact);
  await becomes(() => count(tab, "op:Conv2D padding=SAME name:conv1"), 1);
  await becomes(() => count(tab, "op:Conv2D nowhere"), 0);
});

test("the list of what was found goes when one is taken, and comes back", async ({ tab, page }) => {
  await page("mnist.html");
  const list = tab.getByRole("listbox", { name: "Find" });
  await find(tab).fill("conv");
  await list.getByRole("option").first().waitFor();
  await find(tab).press("Enter");
  await card(tab).waitFor();
  await gone(list, "the picture is seen");
  const first = (await state(tab)).select;
  await find(tab).press("Enter");
  await until(async () => (await state(tab)).select !== first, "Enter walks on");
  await gone(list);
  await find(tab).press("ArrowUp");
  await list.waitFor();
  await until(async () => (await state(tab)).select === first, "arrows walk in the list");
  await list.getByRole("option").nth(2).click();
  await list.waitFor({ state: "hidden" });
});

test("a number bears its unit once", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.evaluate(() => window.tbgraph.select("conv1/biases/summaries/Mean"));
  const row = card(tab).getByRole("table", { name: "Statistics" }).getByRole("row", { name: /^FLOPs/ });
  await becomes(async () => (await row.textContent()).match(/FLOPs/g).length, 1);
});

test("the bar of a trace hides no box of a picture that was seen as a whole", async ({ tab, page }) => {
  await page("mnist.html");
  await tab.getByRole("button", { name: "Fit" }).click();
  const [first, ...others] = await tab.evaluate(async () => (await window.tbgraph.scene()).boxes.filter((box) => !box.open).sort((a, b) => a.y - b.y).map((box) => box.name));
  for (const [name, key] of [[first, "i"], [others.at(-1), "i"]]) {
    await tab.evaluate((name) => window.tbgraph.select(name), name);
    await tab.keyboard.press(key);
    await tab.getByRole("status").filter({ hasText: /^Inputs of/ }).waitFor();
    await until(async () => {
      const bar = await tab.getByRole("group", { name: "How far" }).boundingBox();
      const tops = await tab.locator("g.node.closed").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      return tops.every((top) => top >= bar.y + bar.height);
    }, `${name}: all boxes are below it`);
    await tab.getByRole("button", { name: "End trace" }).click();
    await tab.getByRole("button", { name: "Fit" }).click();
  }
});

test("a picture saved during a trace leaves aside what the screen does", async ({ tab, page }) => {
  await page("mnist.html", "select=fc2");
  const save = async () => {
    await tab.getByLabel("Share").click();
    const { data } = await saved(tab, () => tab.getByRole("button", { name: "Save SVG" }).click());
    await tab.getByLabel("Share").click(); // which closes its menu
    return String(data);
  };
  const read = (text) => tab.evaluate((text) => {
    const file = new DOMParser().parseFromString(text, "image/svg+xml");
    const boxes = [...file.querySelectorAll("g[data-name]")].map((one) => [one.getAttribute("data-name"), one.firstElementChild.nextElementSibling.hasAttribute("opacity")]);
    return { boxes, shapes: file.querySelectorAll("path, rect, text, circle").length, faded: file.querySelectorAll("[opacity='0.22']").length };
  }, text);
  const whole = await read(await save());
  await card(tab).getByRole("button", { name: "Trace inputs" }).click();
  await tab.getByRole("group", { name: "How far" }).waitFor();
  await settled(tab);
  const traced = await read(await save());
  equal(traced.shapes, whole.shapes, "nothing is lost");
  equal(whole.faded, 0);
  ok(traced.faded > 3, `${traced.faded} shapes`);
  const shown = await tab.evaluate(() => [...document.querySelectorAll("g.node[data-name]")].map((one) => [one.getAttribute("data-name"), one.classList.contains("faded")]));
  const held = new Map(traced.boxes);
  for (const [name, faded] of shown) equal(held.get(name), faded, name);
});

test("a trace counts what feeds a group, Escape closes a menu, a fitted picture stays fitted, and a bad expression rings nothing", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv1").click();
  await becomes(async () => (await state(tab)).select, "conv1");
  await tab.keyboard.press("i");
  await seen(tab.getByRole("status").filter({ hasText: /^Inputs of conv1 · 1 op$/ }), "one op outside of the group feeds it");
  await tab.keyboard.press("Escape");
  await tab.getByLabel("Share").click();
  await seen(tab.getByRole("button", { name: "Save SVG" }));
  await tab.keyboard.press("Escape");
  await gone(tab.getByRole("button", { name: "Save SVG" }), "the menu closes");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("0");
  const whole = () => tab.evaluate(() => ["#picture .world, #picture g"].map((one) => document.querySelector(one)?.getBoundingClientRect()).map((one) => one && [one.left >= 0, one.right <= innerWidth, one.top >= 0, one.bottom <= innerHeight])[0]);
  await becomes(whole, [true, true, true, true], "all is in the window");
  await tab.setViewportSize({ width: 800, height: 500 });
  await becomes(whole, [true, true, true, true], "and in a smaller one");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("conv1");
  await until(async () => (await tab.locator("g.node.found").count()) > 0);
  await tab.keyboard.press("Control+a");
  await tab.keyboard.type("/conv1(/");
  await seen(tab.getByText("Not a valid regular expression"));
  await becomes(() => tab.locator("g.node.found").count(), 0, "the rings of the last search are gone");
});

test("an open stack shows one member, and its card, a search and a link lead to the others", async ({ tab, page }) => {
  await page("stack.html", "open=b_0&select=b_[0-5]");
  await becomes(() => names(tab).then((all) => all.filter((name) => name.includes("/"))), ["b_0/mul", "b_0/sum"]);
  await node(tab, "b_[0-5]").locator("text", { hasText: "b_[0-5] ×6" }).or(tab.locator("g.head text", { hasText: "b_[0-5] ×6" })).first().waitFor();
  await seen(card(tab).getByText("1 of 6"));
  await card(tab).getByRole("button", { name: "The next member" }).click();
  await becomes(() => names(tab).then((all) => all.filter((name) => name.includes("/"))), ["b_1/mul", "b_1/sum"]);
  await seen(card(tab).getByText("2 of 6"));
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("b_4/mul");
  await tab.keyboard.press("Enter");
  await becomes(() => names(tab).then((all) => all.filter((name) => name.includes("/"))), ["b_4/mul", "b_4/sum"]);
  await becomes(async () => (await state(tab)).open, ["b_4"]);
  await tab.evaluate(() => window.tbgraph.select("b_[0-5]"));
  await seen(card(tab).getByText("5 of 6"));
  await card(tab).getByRole("button", { name: "All members" }).click();
  await seen(node(tab, "b_3"));
  await gone(node(tab, "b_4/mul"), "none of them is open");
  await node(tab, "b_3").dblclick();
  await becomes(() => names(tab).then((all) => all.filter((name) => name.includes("/"))), ["b_3/mul", "b_3/sum"]);
  await gone(node(tab, "b_2"), "the others are behind it");
});

test("whatever was open before, a view looks as it does in a page that is loaded with it", async ({ tab, page }) => {
  await page("mnist.html");
  const drawn = () =>
    tab.evaluate(async () => {
      const boxes = (await window.tbgraph.scene()).boxes.map((box) => JSON.stringify(box)).sort();
      const lines = [...document.querySelectorAll("#picture path, svg path")].map((one) => one.getAttribute("d"));
      return { boxes, words: [...document.querySelectorAll("g.node text")].map((one) => one.textContent).sort(), lines: lines.filter((one) => one?.length > 30).length };
    });
  const found = await tab.evaluate(async () => {
    const { tbgraph } = window;
    let turn = 7;
    for (let step = 0; step < 25; step++) {
      const all = (await tbgraph.scene()).boxes.filter((box) => ["scope", "series", "fold"].includes(box.kind));
      turn = (turn * 31 + 17) % 1009;
      const one = all[turn % all.length];
      if (one.open) await tbgraph.close(one.name);
      else await tbgraph.open(one.name);
    }
    return tbgraph.state();
  });
  const walked = await drawn();
  ok(walked.boxes.length > 10, `${walked.boxes.length} boxes`);
  await until(async () => (await hash(tab)).includes("open="), "the address says what is open");
  const address = (await tab.evaluate(() => location.hash)).slice(1);
  await page("stack.html");
  await page("mnist.html", address);
  await becomes(async () => (await tab.evaluate(() => window.tbgraph.state())).open, found.open);
  await becomes(drawn, walked, "the same boxes, words and lines");
});

test(
  "on a phone a picture that is seen as a whole lies under no button",
  async ({ tab, page }) => {
    for (const [name, colour] of [["mnist.html", ""], ["mnist.html", "colour=op-type"], ["diff.html", ""]]) {
      await page(name, colour);
      await until(
        () =>
          tab.evaluate(() => {
            const buttons = ["legend", "corner"].map((id) => document.getElementById(id).getBoundingClientRect());
            const boxes = [...document.querySelectorAll("g.node.closed > rect")].map((one) => one.getBoundingClientRect());
            return boxes.length > 3 && buttons.every((one) => boxes.every((box) => box.right <= one.left || one.right <= box.left || box.bottom <= one.top || one.bottom <= box.top));
          }),
        `${name} ${colour}`,
      );
    }
  },
  { viewport: { width: 390, height: 844 } },
);
