// The page of a diff: a list of changes that walks through the picture.

const changes = (tab) => tab.getByRole("list", { name: "Changes" });
const card = (tab) => tab.getByRole("complementary", { name: "Details" });

test("the list walks through the changes", async ({ tab, page }) => {
  await page("diff.html");
  const items = changes(tab).getByRole("listitem");
  await becomes(() => items.count(), 2);
  await tab.getByRole("button", { name: "Next change" }).click();
  const first = await card(tab).getByRole("heading").first().textContent();
  await tab.getByRole("button", { name: "Next change" }).click();
  await until(async () => (await card(tab).getByRole("heading").first().textContent()) !== first);
  await tab.getByRole("button", { name: "Previous change" }).click();
  await card(tab).getByRole("heading", { name: first, exact: true }).waitFor();
});

test("a change in the list brings its node into view, with before and after", async ({ tab, page }) => {
  await page("diff.html");
  await changes(tab).getByRole("button", { name: /Relu → Elu/ }).click();
  await card(tab).getByRole("heading", { name: "conv1/activation", exact: true }).waitFor();
  await seen(card(tab).getByRole("row", { name: /Before\s*Relu/ }));
  await seen(card(tab).getByRole("row", { name: /After\s*Elu/ }));
  await seen(tab.locator('g.node[data-name="conv1/activation"]'));
});

test("the first picture is open on the way to each change", async ({ tab, page }) => {
  await page("diff.html");
  const names = await tab.evaluate(async () => (await window.tbgraph.scene()).boxes.map((box) => box.name));
  ok(names.includes("conv1/activation"), names.join());
});

test("consequences are folded behind their cause, and lead to their nodes", async ({ tab, page }) => {
  await page("consequences.html");
  const cause = changes(tab).getByRole("listitem").filter({ hasText: "Consequences" }).first();
  const behind = cause.getByRole("group").or(cause.locator("details")).first();
  await seen(behind);
  await gone(behind.locator(".behind").first(), "folded");
  await behind.getByText(/^Consequences · \d+/).click();
  const first = behind.getByRole("button").first();
  await seen(first, "unfolded");
  await first.click();
  await card(tab).getByRole("heading").first().waitFor();
});

test("keys walk through the changes too, from any place but a field", async ({ tab, page }) => {
  await page("diff.html");
  const heading = () => card(tab).getByRole("heading").first().textContent();
  await tab.keyboard.press("n");
  await card(tab).waitFor();
  const first = await heading();
  await tab.keyboard.press("n");
  await until(async () => (await heading()) !== first, "n goes on");
  const second = await heading();
  await seen(tab.locator(`g.node[data-name="${second.trim()}"]`), "it is in view");
  await tab.keyboard.press("p");
  await until(async () => (await heading()) === first, "p goes back");
  await tab.keyboard.press("/");
  await tab.keyboard.type("pn");
  await becomes(() => tab.getByRole("searchbox", { name: "Find" }).inputValue(), "pn");
  await settled(tab);
  await becomes(heading, first);
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("?");
  await seen(tab.getByRole("dialog").getByText("n", { exact: true }), "the help says so");
});

test("lines of what is chosen still say what became of them", async ({ tab, page }) => {
  await page("inserted.html");
  const pens = (layer) => tab.evaluate((layer) => [...document.querySelectorAll(`#world > .${layer} > g`)].flatMap((line) => {
    const path = line.querySelector("path[stroke]");
    return path ? [[line.dataset.from, line.dataset.to, path.getAttribute("stroke"), path.getAttribute("stroke-dasharray"), Number(path.getAttribute("stroke-width") ?? 1), line.querySelectorAll("text, circle, path").length]] : [];
  }), layer);
  const [came, gone] = ["#00875F", "#C2410C"];
  const tinted = (await pens("edges")).filter(([, , colour]) => [came, gone].includes(colour));
  ok(tinted.length, "some lines came or went");
  for (const [from, to, colour, dashes, width, parts] of tinted.slice(0, 6)) {
    await tab.evaluate((name) => window.tbgraph.select(name), from);
    await until(async () => (await pens("chosen")).some((one) => one[0] === from && one[1] === to && one[2] === colour && one[3] === dashes && one[4] > width && one[5] === parts), `${from} → ${to} keeps ${colour} ${dashes}`);
  }
});

test("a change marks every part that it is made of, and nothing comes after the only one", async ({ tab, page }) => {
  await page("inserted.html");
  const { rows, count } = await tab.evaluate(() => {
    const [first, ...others] = JSON.parse(document.getElementById("head").textContent).changes;
    return { rows: first.rows.length, count: others.length + 1 };
  });
  const next = tab.getByRole("button", { name: "Next change" });
  await until(() => next.isEnabled());
  await next.click();
  await card(tab).waitFor();
  await becomes(() => next.isEnabled(), count > 1);
  await until(async () => (await tab.locator("g.node.found").count()) >= Math.min(rows, 2) || rows === 1, `${rows} parts`);
});

test("the card signs the wires that came and those that are gone", async ({ tab, page }) => {
  await page("diff.html");
  await tab.evaluate(() => window.tbgraph.select("fc1"));
  await card(tab).getByRole("table", { name: "Outputs" }).waitFor();
  await becomes(() => card(tab).getByRole("table", { name: "Inputs" }).getByRole("img").count(), 0, "nothing happened here");
  await page("consequences.html");
  await tab.evaluate(() => window.tbgraph.select("adam"));
  const table = card(tab).getByRole("table", { name: "Inputs", exact: true });
  await table.getByRole("img", { name: /new|removed/ }).first().waitFor();
});
