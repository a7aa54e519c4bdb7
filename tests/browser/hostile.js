// Names that want to be more than text: nothing of them runs, and the page says nothing of them to its console.

const card = (tab) => tab.getByRole("complementary", { name: "Details" });

/** Do everything that shows names, and look whether anything became markup. */
async function handled(tab) {
  const names = await tab.evaluate(async () => {
    const { tbgraph } = window;
    const seen = [];
    for (const box of (await tbgraph.scene()).boxes) {
      await tbgraph.select(box.name);
      seen.push(box.name);
    }
    for (const box of (await tbgraph.scene()).boxes) if (!box.open && box.kind !== "op") await tbgraph.open(box.name);
    for (const text of ["alert", "/script/", "</", "<img", "]]>", "\u202e", "x".repeat(3000)]) await tbgraph.find(text);
    await tbgraph.state({ ...(await tbgraph.state()), open: ["</script><script>alert(1)</script>"], colour: "<b>", aux: ["<!--"], trace: "in:<i>", other: "<u>" });
    return seen;
  });
  ok(names.length > 5, names.length);
  await tab.getByRole("button", { name: "Outline" }).click();
  for (const scheme of await tab.getByRole("combobox", { name: "Colour by" }).locator("option").evaluateAll((all) => all.map((one) => one.value))) {
    await tab.getByRole("combobox", { name: "Colour by" }).selectOption(scheme);
  }
  await tab.evaluate(() => window.tbgraph.find(""));
  await settled(tab);
  await tab.locator("#picture").focus();
  await tab.keyboard.press("0");
  await settled(tab);
  for (const one of (await tab.locator("g.node.closed").all()).slice(0, 4)) {
    const { x, y, width, height } = await one.boundingBox();
    await tab.mouse.move(x + width / 2, y + height / 2);
  }
  await tab.evaluate(async () => window.tbgraph.select((await window.tbgraph.scene()).boxes[0].name));
  await tab.keyboard.press("ContextMenu");
  await tab.getByRole("menuitem").first().waitFor();
  await tab.keyboard.press("Escape");
  await tab.getByLabel("Share").click();
  const { data } = await saved(tab, () => tab.getByRole("button", { name: "Save SVG" }).click());
  ok(!/<(script|img|iframe|foreignObject|b|i|u)\b/i.test(String(data)), "no markup in the saved picture");
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const [scripts, odd, hacked] = await tab.evaluate(() => [
    document.querySelectorAll("script:not([data-block])").length,
    document.querySelectorAll("img, iframe, b:not(.run-head b), i, u, object, embed, [onclick], [onerror], [onload], a[href^='javascript:']").length,
    window.hacked !== undefined,
  ]);
  equal([scripts, odd, hacked], [2, 0, false], "the head and ours are the only scripts");
}

test("names, ops, devices, functions and attributes of a graph stay text", async ({ tab, page }) => {
  await page("hostile.html");
  await handled(tab);
  await tab.evaluate(() => window.tbgraph.select("]]>"));
  await card(tab).getByRole("heading", { name: "]]>", exact: true }).waitFor();
});

test("so do those of a run, and a title", async ({ tab, page }) => {
  await page("hostile_run.html");
  await until(async () => (await tab.title()).includes("</title><script>"), "the title is text");
  await handled(tab);
  await tab.getByRole("combobox", { name: "Step" }).selectOption({ index: 1 });
});

test("so do those of a diff, and the names of its files", async ({ tab, page }) => {
  await page("hostile_diff.html");
  const next = tab.getByRole("button", { name: "Next change" });
  const count = await tab.evaluate(() => JSON.parse(document.getElementById("head").textContent).changes.length);
  for (let at = 0; at < Math.min(count, 4); at++) await next.click();
  await handled(tab);
});

test("a scope without a name, as of `/m/a`, is a backslash and can be gone back to", async ({ tab, page }) => {
  await page("nameless.html", "open=%5C&select=%5C");
  await card(tab).getByRole("heading", { name: "\\", exact: true }).waitFor();
  const opened = async () => (await tab.evaluate(() => window.tbgraph.scene())).boxes.filter((box) => box.open).map((box) => box.name);
  await becomes(opened, ["\\"], "it alone is open");
  await tab.evaluate(async () => window.tbgraph.state((await window.tbgraph.state())));
  await becomes(opened, ["\\"], "it is in the address too");
  await tab.getByRole("searchbox", { name: "Find" }).fill("name:/^$|b$|x/");
  const options = tab.getByRole("listbox").getByRole("option");
  await becomes(async () => (await options.locator(".hit").allTextContents()).sort(), ["/m/b", "\\", "a//b", "x", "x/"]);
});
