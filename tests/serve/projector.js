// Someone who knows TensorBoard's projector looks for points that are labelled wrongly: `node projector.js`. ROW is one of them.
const { end, faults, ok, opened, run, serve, shot, test, until } = require("./browser.js");

const ROW = Number(process.env.ROW);

async function main() {
  const { browser, context, tab } = await opened({ width: 1440, height: 900 });
  const watched = (page) => {
    page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  };
  watched(tab);
  const address = await serve("0");
  await tab.goto(`${address}#page=projector&theme=${process.env.THEME || "light"}`);
  const cloud = tab.getByRole("application");
  const card = tab.getByRole("region", { name: "Selection" });
  const legend = tab.getByRole("region", { name: "Legend" });
  const bar = tab.getByRole("toolbar", { name: "Projector" });
  const find = bar.getByRole("searchbox", { name: "Find points, /regex/" });
  const says = (place, words) => until(async () => (await place.textContent()).includes(words), `it does not say ${words}`);
  const named = (words) => until(async () => (await cloud.getAttribute("aria-label")).includes(words), `the cloud is not called ${words}`);
  /** How many pixels of the cloud are drawn. */
  const inked = (page) => page.evaluate(() => {
    const from = document.querySelector(".cloud-points");
    const copy = Object.assign(document.createElement("canvas"), { width: from.width, height: from.height });
    const pen = copy.getContext("2d");
    pen.drawImage(from, 0, 0);
    return pen.getImageData(0, 0, copy.width, copy.height).data.filter((value, at) => at % 4 === 3 && value > 0).length;
  });

  /** The same once the cloud stands still: two looks apart count as many. */
  const drawn = async (page) => {
    let count = -1;
    await until(async () => {
      const last = count;
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      return (count = await inked(page)) === last;
    }, "the cloud does not come to rest");
    return count;
  };

  await test("1: the cloud is there, with its variance, its categories and its pictures", async () => {
    await named("Cloud of 600 points of default:00000, 0 chosen");
    await says(tab.locator(".cloud-note"), "600 points, 24 dimensions · ");
    await says(tab.locator(".cloud-note"), "these axes explain 55.8% of the variance");
    await until(async () => (await legend.getByRole("button").count()) === 10, "not ten categories");
    await bar.getByRole("checkbox", { name: "Images" }).waitFor();
    await shot(tab);
    await bar.getByRole("checkbox", { name: "Images" }).uncheck();
    await bar.getByRole("button", { name: "Three axes" }).click();
    await says(tab.locator(".cloud-note"), "these axes explain 42.1% of the variance");
    await shot(tab);
  });

  await test("2: a category that lies in two places has points that are labelled wrongly", async () => {
    await legend.getByRole("button", { name: /^9/ }).click();
    await card.getByRole("heading", { name: "78 points" }).waitFor();
    await shot(tab);
    await card.locator("tr", { has: tab.getByRole("cell", { name: `image ${ROW}`, exact: true }) }).getByRole("button").click();
    await says(card, "neighbours have digit 4; this point has 9");
    await until(async () => (await card.locator(".cloud-near li").count()) === 10, "not ten neighbours");
    await card.getByRole("combobox", { name: "Distance" }).selectOption("euclidean");
    await card.getByRole("slider", { name: "Nearest" }).fill("25");
    await until(async () => (await card.locator(".cloud-near li").count()) === 25, "not 25 neighbours");
    await until(async () => /point=/.test(await tab.evaluate(() => location.hash)), "the address does not say which point");
    await shot(tab);
    await card.getByRole("button", { name: "Isolate" }).click();
    await says(bar, "26 shown alone");
    await card.getByRole("button", { name: "Show all" }).click();
  });

  await test("3: search, by letters and by a pattern, and a bad pattern", async () => {
    await tab.keyboard.press("Escape");
    await bar.getByRole("combobox", { name: "Label by" }).selectOption("name");
    await find.fill("/image 1\\d$/");
    await says(bar, "10 found");
    await find.fill("/(/");
    await says(bar, "Not a valid regular expression");
    await find.fill("onerror");
    await says(bar, "1 found");
    await find.press("Enter");
    await card.getByRole("heading", { name: "<img src=x onerror=alert(1)>" }).waitFor();
    await find.fill("");
  });

  await test("4: by hand and by keyboard: a box, a lasso, a point, the next one", async () => {
    const drag = async (places) => {
      const box = await cloud.boundingBox();
      await tab.mouse.move(box.x + places[0][0] * box.width, box.y + places[0][1] * box.height);
      await tab.mouse.down();
      for (const [x, y] of places.slice(1)) await tab.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 4 });
      await tab.mouse.up();
    };
    await cloud.press("Escape");
    await cloud.press("b");
    await drag([[0.12, 0.12], [0.85, 0.97]]);
    await card.getByRole("heading", { name: "600 points" }).waitFor();
    await cloud.press("Escape");
    await cloud.press("l");
    await drag([[0.1, 0.1], [0.85, 0.1], [0.85, 0.97], [0.1, 0.97]]);
    await named("600 chosen");
    await shot(tab);
    await cloud.press("Escape");
    await cloud.press("v");
    await cloud.press(".");
    await named("1 chosen");
    await says(card, "Number0");
    await cloud.press(".");
    await says(card, "Number1");
    const before = await drawn(tab);
    for (const key of ["+", "+", "ArrowLeft", "ArrowUp", "0"]) await cloud.press(key);
    await until(async () => (await inked(tab)) === before, "0 does not show the first look again");
    ok(before > 2000, `only ${before} pixels are drawn`);
  });

  await test("5: the address brings the same point back; dark, and as wide as a phone", async () => {
    await until(() => tab.evaluate(() => /[#&]point=1(&|$)/.test(location.hash)), "the address does not say which point");
    const hash = await tab.evaluate(() => location.hash);
    const other = await context.newPage();
    watched(other);
    await other.setViewportSize({ width: 390, height: 800 });
    await other.goto(`${address}${hash.replace("theme=light", "theme=dark")}`);
    await until(async () => /Number1/.test((await other.getByRole("region", { name: "Selection" }).textContent()) ?? ""), "another point");
    await until(() => other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the phone");
    await shot(other);
    await other.close();
  });

  await test("6: drawn by WebGL it is the same cloud", async () => {
    const other = await context.newPage();
    watched(other);
    // What draws here is a program; the page is told that it is a card.
    await other.addInitScript(() => {
      const real = WebGLRenderingContext.prototype.getParameter;
      WebGLRenderingContext.prototype.getParameter = function (name) {
        return name === 0x9246 || name === 0x1f01 ? "a card" : real.call(this, name);
      };
    });
    await other.setViewportSize({ width: 1440, height: 900 });
    await other.goto(`${address}#page=projector&cloudaxes=0,1`);
    const images = other.getByRole("checkbox", { name: "Images" });
    await images.waitFor();
    await until(async () => (await inked(other)) > 50_000, "no pictures");
    await images.uncheck();
    await tab.bringToFront();
    await cloud.press("Escape");
    await named("0 chosen");
    await until(async () => (await inked(tab)) > 2000, "nothing is drawn");
    const plain = await drawn(tab);
    await other.bringToFront();
    await until(async () => Math.abs((await inked(other)) / plain - 1) < 0.35, `not as many pixels as ${plain}`);
    ok(await other.evaluate(() => document.querySelector(".cloud-points").getContext("webgl") !== null), "not by WebGL");
    await shot(other);
    // A card that is lost is done without.
    await other.evaluate(() => document.querySelector(".cloud-points").getContext("webgl").getExtension("WEBGL_lose_context").loseContext());
    await until(async () => other.evaluate(() => document.querySelector(".cloud-points").getContext("2d") !== null), "nothing else draws");
    await until(async () => Math.abs((await inked(other)) / plain - 1) < 0.1, `not as many pixels as ${plain} without the card`);
    await other.close();
  });

  await test("7: from the cloud to the layer that looks it up, and back", async () => {
    await bar.getByRole("button", { name: "Show in graph" }).click();
    await until(async () => (await tab.evaluate(() => window.tbgraph.state())).select === "model/lookup", "the op is not chosen");
    const details = tab.getByRole("complementary", { name: "Details" });
    await details.getByRole("button", { name: "Open in Projector" }).click();
    await cloud.waitFor();
    await named("Cloud of 600 points");
  });

  await test("8: one file has the same points and finds the same neighbours", async () => {
    await tab.evaluate((row) => (location.hash = `page=projector&point=${row}&cloudaxes=0,1`), ROW);
    await tab.reload();
    const near = (page) => page.locator(".cloud-near li").allTextContents();
    await until(async () => (await near(tab)).length === 10, "the server finds no neighbours");
    const other = await context.newPage();
    watched(other);
    await other.goto(`${process.env.PAGE}#page=projector&point=${ROW}&cloudaxes=0,1`);
    await until(async () => (await near(other)).length === 10, "the file finds no neighbours");
    await until(async () => JSON.stringify(await near(other)) === JSON.stringify(await near(tab)), "other neighbours");
    await other.getByRole("checkbox", { name: "Images" }).waitFor();
    await shot(other);
    await other.close();
  });

  await end("SIGINT");
  await browser.close();
}

run(main);
