// What a run logged, at the nodes of its graph.

const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const logged = (tab) => card(tab).getByRole("region", { name: "Logged" });
const drawn = (place) => coloursOf(place.locator("canvas"));

test("the card of a node charts what was logged there, and a chart leads back to its node", async ({ page }) => {
  const tab = await page("training.html");
  await tab.evaluate(() => window.tbgraph.select("wide/dense_2"));
  await becomes(() => logged(tab).getByRole("figure").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label").split(":")[0])), ["wide/dense_2/size", "gradients/wide/dense_2/kernel, bad", "weights/wide/dense_2/kernel, bad"], "charts");
  const [size, gradient] = [0, 1].map((at) => logged(tab).getByRole("figure").nth(at));
  await until(async () => (await drawn(size)) > 5, "a line");
  await until(async () => (await drawn(gradient)) > 5, "ridges");
  await seen(logged(tab).getByText("by its path").first());
  await logged(tab).getByRole("button", { name: "Distributions" }).click();
  await seen(logged(tab).getByRole("figure", { name: /^gradients.*last median/ }));
  await size.getByRole("button", { name: "Open on its page" }).click();
  await seen(tab.getByRole("tab", { name: "Scalars", selected: true }));
  await becomes(() => tab.locator("#log-page").getByRole("figure").count(), 1, "the tag alone");
  await tab.locator("#log-page").getByRole("figure").getByRole("button", { name: "Show in graph" }).click();
  await seen(card(tab).getByRole("heading", { name: "wide/dense_2", exact: true }));
  await until(async () => (await tab.evaluate(() => window.tbgraph.state())).select === "wide/dense_2");
});

test("a group has the charts of its layers, and a group of tags leads to its scope", async ({ page }) => {
  const tab = await page("training.html");
  await tab.evaluate(() => window.tbgraph.select("encoder"));
  await becomes(() => logged(tab).getByRole("figure").count(), 3);
  await seen(logged(tab).getByRole("button", { name: "encoder/dense_1/MatMul" }).first());
  await logged(tab).getByRole("button", { name: "and 21 more" }).click();
  await becomes(() => logged(tab).getByRole("figure").count(), 24);
  await tab.evaluate(() => window.tbgraph.page("image"));
  await tab.getByRole("button", { name: "Show in graph" }).first().click();
  await until(async () => (await tab.evaluate(() => window.tbgraph.state())).select === "head/dense_1");
  await until(() => logged(tab).locator("img").evaluate((image) => image.naturalWidth === 2), "an image");
  await logged(tab).getByRole("button", { name: /^and \d+ more/ }).click();
  await seen(logged(tab).getByRole("heading", { name: "Notes" }));
  await seen(logged(tab).getByText("head/dense_1/<img src=x onerror=window.hacked=1>").first());
  await becomes(() => tab.evaluate(() => String(window.hacked)), "undefined");
});
