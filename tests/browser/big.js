// The same gestures on a training graph of 6,000 nodes, with its motion, and by touch.

const node = (tab, name) => tab.locator(`g.node[data-name="${name}"]`);
const card = (tab) => tab.getByRole("complementary", { name: "Details" });
const scene = (tab) => tab.evaluate(() => window.tbgraph.scene());
const chosen = (tab) => tab.evaluate(async () => (await window.tbgraph.state()).select ?? null);

test("what is found lies deep, and comes into view", async ({ tab, page }) => {
  await page("big.html");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("MatMul");
  await tab.getByRole("status").filter({ hasText: /[\d\u2009]+ found/ }).waitFor();
  for (let at = 0; at < 3; at++) {
    const before = await chosen(tab);
    await tab.keyboard.press("Enter");
    await until(async () => (await chosen(tab)) !== before);
    const found = await chosen(tab);
    await eventually(async () => {
      const box = await node(tab, found).boundingBox();
      ok(box && box.x > 0 && box.y > 48 && box.x + box.width < 1440 && box.y + box.height < 900, `${found} ${JSON.stringify(box)}`);
    });
  }
});

test("tracing all the way fades what is not on it", async ({ tab, page }) => {
  await page("big.html");
  await node(tab, "input").click();
  await becomes(() => chosen(tab), "input");
  await tab.keyboard.press("Shift+I");
  await until(async () => (await tab.locator("g.node.faded").count()) > 2);
  await becomes(() => node(tab, "input").evaluate((one) => one.classList.contains("faded")), false);
  await tab.keyboard.press("Escape");
  await until(async () => (await tab.locator(".faded").count()) === 0);
});

test("a hub leaves its lines and gets them back, deep inside too", async ({ tab, page }) => {
  await page("big.html");
  const lines = async () => (await scene(tab)).lines.filter((line) => line.from === "Adam" || line.to === "Adam").length;
  await until(async () => (await lines()) > 0, "updates stand under gradients");
  const drawn = await lines();
  await node(tab, "Adam").click();
  await card(tab).getByRole("button", { name: "To the auxiliary area" }).click();
  await becomes(lines, 0);
  await card(tab).getByRole("button", { name: "To the main graph" }).click();
  await becomes(lines, drawn);
});

test("a series comes apart and together by card, menu and key", async ({ tab, page }) => {
  await page("series.html");
  const before = await scene(tab);
  const series = before.boxes.find((box) => box.kind === "series" && !box.open);
  ok(series);
  const drawn = async () => (await scene(tab)).boxes.some((box) => box.name === series.name);
  await node(tab, series.name).click();
  await card(tab).getByRole("button", { name: "Ungroup" }).click();
  await until(async () => !(await drawn()), "by the card");
  const members = (await scene(tab)).boxes.filter((box) => !before.boxes.some((other) => other.name === box.name));
  ok(members.length > 1 && members.every((box) => box.parent === series.parent), "its members stand where it stood, in no frame of their own");
  await until(async () => decodeURIComponent(await tab.evaluate(() => location.hash)).includes(`ungroup=${series.name}`), "the address says so");
  await node(tab, members[0].name).click();
  await becomes(() => chosen(tab), members[0].name);
  await tab.locator("#picture").focus();
  await tab.keyboard.press("g");
  await until(drawn, "by key, from a member");
  await becomes(() => scene(tab), before);
  await node(tab, series.name).click({ button: "right" });
  await tab.getByRole("menuitem", { name: "Ungroup" }).click();
  await until(async () => !(await drawn()), "by the menu");
  await node(tab, members[0].name).click();
  await card(tab).getByRole("button", { name: "Group", exact: true }).click();
  await until(drawn, "together again, by the card of a member");
});

test(
  "opening moves, and the mark stays under the pointer",
  async ({ tab, page }) => {
    await page("big.html");
    const closed = (await scene(tab)).boxes.find((one) => one.kind === "scope" && !one.open);
    const inside = async () => (await scene(tab)).boxes.some((one) => one.parent === closed.name);
    const box = await node(tab, closed.name).boundingBox();
    const scale = box.width / closed.width;
    const [x, y] = [box.x + box.width - 10 * scale, box.y + 10 * scale];
    await tab.mouse.click(x, y);
    await until(inside, `${closed.name} opens`);
    await becomes(() => tab.evaluate(() => document.getAnimations().length), 0, "at rest");
    await tab.mouse.click(x, y);
    await until(async () => !(await inside()), "and closes under the same pointer");
  },
  { reducedMotion: "no-preference" },
);

test(
  "two fingers zoom about their middle",
  async ({ tab, page, context }) => {
    await page("big.html");
    const touch = await context.newCDPSession(tab);
    const send = (type, points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const before = await node(tab, "tower_0").boundingBox();
    await send("touchStart", [[150, 400], [240, 400]]);
    for (let at = 1; at <= 6; at++) await send("touchMove", [[150 - 10 * at, 400], [240 + 10 * at, 400]]);
    await send("touchEnd", []);
    await until(async () => (await node(tab, "tower_0").boundingBox()).width > 1.5 * before.width, "larger");
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
);

test(
  "a reader of Korean reads Korean, on a dark screen",
  async ({ tab, page }) => {
    await page("big.html");
    await seen(tab.getByRole("searchbox", { name: "찾기" }));
    await seen(tab.getByRole("combobox", { name: "색 기준" }));
    await becomes(() => tab.evaluate(() => [document.documentElement.lang, document.documentElement.dataset.theme]), ["ko", "dark"]);
    await node(tab, "input").click();
    await tab.getByRole("complementary", { name: "상세 정보" }).getByRole("button", { name: "입력 추적" }).waitFor();
    const english = await tab.evaluate(() => document.body.innerText.match(/\b(Find|Colour by|Trace|Outline|Close|Legend)\b/)?.[0] ?? "");
    equal(english, "", "no word is left in English");
  },
  { locale: "ko-KR", colorScheme: "dark" },
);

test("a level whose lines are a web is drawn, and searched", async ({ tab, page }) => {
  await page("web.html");
  await until(async () => (await tab.locator("svg path").count()) > 400, "its lines are drawn, a hundred in a path");
  await tab.keyboard.press("Control+k");
  await tab.keyboard.type("b77");
  await tab.keyboard.press("Enter");
  await becomes(() => chosen(tab), "b77");
});
