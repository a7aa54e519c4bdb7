// The table of a graph: rows and boxes lead to each other, totals, filter, CSV, keyboard, address.

const panel = (tab) => tab.getByRole("region", { name: "Table", exact: true });
const grid = (tab) => panel(tab).getByRole("grid");
const rows = (tab) => grid(tab).locator("tbody tr[data-name]");
const first = async (tab) => (await rows(tab).first().textContent()) ?? "";
const said = (tab) => panel(tab).getByRole("status").textContent();
const marked = (tab) => grid(tab).locator('tr[aria-selected="true"]').getAttribute("data-name");
const card = (tab, name) => tab.getByRole("complementary", { name: "Details" }).getByRole("heading", { name, exact: true });

test("the slowest op is the first row; rows and boxes lead to each other", async ({ tab, page }) => {
  await page("steps.html");
  const tall = (await tab.locator("#stage").boundingBox()).height;
  await tab.getByRole("button", { name: "Table", exact: true }).click();
  await becomes(async () => (await rows(tab).first().getAttribute("data-name")) ?? "", "train/Adam/update_fc1/weights/Variable/ApplyAdam");
  await until(async () => (await tab.locator("#stage").boundingBox()).height < tall - 200, "the table lies beside the graph, not over it");
  await becomes(() => grid(tab).getByRole("columnheader", { name: "Time" }).getAttribute("aria-sort"), "descending");
  await until(async () => /^529 rows · Compute time: .* \(100 %\)$/.test(await said(tab)), "the total");
  await rows(tab).filter({ hasText: "MaxPoolGrad" }).first().click();
  await seen(card(tab, "train/gradients/conv2/pool_grad/MaxPoolGrad"));
  await seen(tab.locator('g.node[data-name="train/gradients/conv2/pool_grad/MaxPoolGrad"]'), "its box is shown");
  await becomes(() => marked(tab), "train/gradients/conv2/pool_grad/MaxPoolGrad");
  await tab.evaluate(() => window.tbgraph.select("conv1/pool"));
  await becomes(() => marked(tab), "conv1/pool");
  await tab.evaluate(() => window.tbgraph.select("conv1"));
  await becomes(() => grid(tab).locator('tr[aria-selected="true"]').count(), 0);

  // Groups: the time of all that lies in them, and of what does directly.
  await panel(tab).getByRole("combobox", { name: "Rows" }).selectOption("groups");
  await becomes(async () => (await rows(tab).first().getAttribute("data-name")) ?? "", "train");
  await becomes(() => marked(tab), "conv1");
  await grid(tab).getByRole("button", { name: "Self time" }).click();
  await until(async () => (await rows(tab).first().getAttribute("data-name")) !== "train", "sorted by self time");
  await panel(tab).getByRole("combobox", { name: "Rows" }).selectOption("layers");
  await becomes(() => rows(tab).count(), 4);

  // A link opens it again, and the key puts it away.
  const address = () => tab.evaluate(() => decodeURIComponent(location.href));
  await until(async () => (await address()).includes("table=layers"), "the address says what is listed");
  const link = await address();
  await tab.goto("about:blank");
  await tab.goto(link);
  await becomes(() => rows(tab).count(), 4);
  await grid(tab).focus();
  await tab.keyboard.press("r");
  await gone(panel(tab));
  await until(async () => (await tab.locator("#stage").boundingBox()).height === tall, "the graph has its room back");
});

test("the table is filtered as Find searches, walked through by keyboard, and saved", async ({ tab, page }) => {
  await page("steps.html", "table=ops:-flops");
  const filter = panel(tab).getByRole("searchbox", { name: "Filter the rows" });
  await filter.fill("op:MatMul time>10us");
  await until(async () => (await rows(tab).count()) > 0 && (await rows(tab).count()) < 8, "few rows");
  await until(async () => (await first(tab)).includes("MatMul"), "of one type");
  await until(async () => /at least/.test(await said(tab)), "what is not counted in full says so");
  await until(async () => (await tab.evaluate(() => decodeURIComponent(location.hash))).includes("rows=op:MatMul time>10us"), "the filter is in the address");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("End");
  await tab.keyboard.press("Home");
  await tab.keyboard.press("Enter");
  const name = await rows(tab).first().getAttribute("data-name");
  await seen(card(tab, name));
  const file = await saved(tab, () => panel(tab).getByRole("button", { name: "Save CSV" }).click());
  equal(file.name, "mnist_cnn-ops.csv");
  const lines = String(file.data).trim().split("\r\n");
  equal(lines[0], "name,type,ops,compute_time_us,memory_bytes,flops,parameters,activations_bytes,shape,device");
  const count = await rows(tab).count();
  equal(lines.length, count + 1);
  ok(lines[1].startsWith(`${name},MatMul,1,`), lines[1]);
  await filter.fill("/(/");
  await until(async () => /Not a valid regular expression/.test(await said(tab)), "a bad filter says so");
  await filter.fill("nothing is called so");
  await until(async () => /^0 rows/.test(await said(tab)), "none");
});

test("only the rows in view are drawn of very many", async ({ tab, page }) => {
  await page("big.html", "table=ops");
  await until(async () => (await rows(tab).count()) > 10, "rows");
  const drawn = await rows(tab).count();
  ok(drawn < 80, `${drawn} rows drawn`);
  await until(async () => Number(await grid(tab).getAttribute("aria-rowcount")) > 4000, "all are counted");
  await grid(tab).focus();
  await tab.keyboard.press("End");
  const last = await grid(tab).getAttribute("aria-rowcount");
  await becomes(() => rows(tab).last().getAttribute("aria-rowindex"), last);
  await until(async () => (await rows(tab).count()) < 80, "few are drawn at the end");
});
