// What is asked for before the page has done what was asked before: on a slow machine, or by a quick hand.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const state = (tab) => tab.evaluate(() => window.tbgraph.state());

test("a trace that is ended as soon as it is seen ends, and nothing fails", async ({ tab, page }) => {
  await page("mnist.html", "select=fc1");
  await tab.evaluate(() => {
    const bar = document.getElementById("tracing");
    const end = (_, observer) => {
      observer.disconnect();
      bar.querySelector("button").click();
      window.ended = true;
    };
    new MutationObserver(end).observe(bar, { childList: true });
  });
  await tab.getByRole("button", { name: "Trace inputs" }).click();
  await until(() => tab.evaluate(() => window.ended));
  await settled(tab);
  await becomes(() => tab.locator(".faded").count(), 0);
  await becomes(async () => (await state(tab)).trace, undefined);
});

test("a gesture that fails says so, and the next one does its work", async ({ tab, page }) => {
  await tab.addInitScript(() => addEventListener("unhandledrejection", (event) => event.preventDefault()));
  await page("mnist.html", "select=conv1");
  await settled(tab); // the card has its icons
  await tab.locator("#picture").focus();
  await tab.evaluate(() => {
    document.createElementNS = () => {
      throw new Error("no room at all");
    };
  });
  await tab.keyboard.press("Enter");
  await seen(tab.getByRole("status").filter({ hasText: "This picture could not be drawn: no room at all" }));
  await gone(node(tab, "conv2"));
  await tab.evaluate(() => delete document.createElementNS);
  await tab.keyboard.press("Enter");
  await seen(node(tab, "conv2"));
});

test("Enter that comes before anything was found takes the first, and the list stays away", async ({ tab, page }) => {
  await page("mnist.html");
  const all = await tab.evaluate(async () => (await window.tbgraph.find("conv1")).length);
  await tab.evaluate(() => {
    const find = document.getElementById("find");
    find.value = "conv1";
    find.dispatchEvent(new Event("input"));
    find.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  });
  await becomes(() => tab.locator("#hit-count").textContent(), `1 of ${all}`);
  await gone(tab.getByRole("listbox", { name: "Find" }));
});

test("the browser goes back though the address is written just then", async ({ tab, page }) => {
  await page("mnist.html");
  await node(tab, "conv1").dblclick();
  await until(async () => (await state(tab)).open?.includes("conv1"));
  await settled(tab);
  await tab.evaluate(() => addEventListener("popstate", () => ["zoom-in", "copy-link"].forEach((one) => document.getElementById(one).click()), { once: true }));
  await tab.goBack();
  await becomes(async () => (await state(tab)).open, undefined);
});

test(
  "what a program waits for has come to rest",
  async ({ tab, page }) => {
    await page("mnist.html");
    const moving = await tab.evaluate(async () => {
      const counts = [];
      for (const [verb, name] of [["open", "conv1"], ["select", "conv2/weights/Variable"], ["close", "conv1"], ["select", "train"]]) {
        await window.tbgraph[verb](name);
        counts.push(document.getAnimations().filter((one) => one.effect.target.closest("#stage")).length);
      }
      return counts;
    });
    equal(moving, [0, 0, 0, 0]);
  },
  { reducedMotion: "no-preference" },
);

test("a double click opens what was clicked first, though the card comes to lie there and the picture moves", async ({ tab, page }) => {
  await page("mnist.html");
  for (const name of ["conv1", "conv2"]) {
    await tab.evaluate(async (name) => {
      const box = (await window.tbgraph.scene()).boxes.find((one) => one.name === name);
      await window.tbgraph.state({ at: [box.x - 530, box.y + 126, 852].join() }); // it begins at (1250, 300)
    }, name);
    const box = await node(tab, name).boundingBox();
    const at = [box.x + box.width / 2, box.y + box.height / 2];
    await tab.mouse.click(...at);
    await seen(tab.getByRole("complementary", { name: "Details" }));
    await settled(tab);
    const moved = await node(tab, name).boundingBox();
    ok(moved.x + moved.width < at[0], "the box is elsewhere");
    await tab.mouse.down({ clickCount: 2 });
    await tab.mouse.up({ clickCount: 2 });
    await seen(node(tab, `${name}/pool`));
    await settled(tab);
    const { open, select, trace } = await state(tab);
    equal([open, select, trace], [[name], name, undefined]);
  }
});
