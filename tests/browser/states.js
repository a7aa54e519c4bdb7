// What the page shows in the states that a reader sees most, as text: each element with a role, its name and its state, on
// three screens and in both themes. `TBGRAPH_ACCEPT=states pytest tests/browser -k states` writes the files anew: read what
// changed, and look at the page.
const fs = require("node:fs");
const path = require("node:path");

const SCREENS = { desk: { width: 1440, height: 900 }, tablet: { width: 1024, height: 768 }, phone: { width: 390, height: 844 } };
const ROLES = "[role], a[href], button, input, select, summary, h1, h2, h3, th, dialog, nav, main, header, aside";

/** Every element with a role that is seen, one a line, indented by those around it. */
const told = (tab) =>
  tab.evaluate((roles) => {
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("[aria-hidden=true]") && one.getBoundingClientRect().width > 0;
    const lines = [];
    for (const one of document.body.querySelectorAll(roles)) {
      const role = one.getAttribute("role") ?? one.tagName.toLowerCase();
      if (!isSeen(one) || ["none", "presentation"].includes(role)) continue;
      let depth = 0;
      for (let at = one.parentElement.closest(roles); at; at = at.parentElement.closest(roles)) depth++;
      const own = one.querySelector(roles) ? "" : one.textContent.replace(/\s+/g, " ").trim();
      const name = one.getAttribute("aria-label") ?? (own || one.getAttribute("title") || "");
      const marks = ["expanded", "pressed", "selected", "checked", "level"].filter((mark) => one.hasAttribute(`aria-${mark}`));
      const value = "value" in one && one.tagName !== "BUTTON" ? ` = ${one.type === "checkbox" ? one.checked : one.value}` : "";
      lines.push(`${"  ".repeat(depth)}${role} ${name.slice(0, 90)}${marks.map((mark) => ` [${mark} ${one.getAttribute(`aria-${mark}`)}]`).join("")}${value}`.trimEnd());
    }
    return lines;
  }, ROLES);

/** Whether all that floats lies within the window, and nothing is wider than it. */
const within = (tab) =>
  tab.evaluate(() => {
    const [wide, tall] = [innerWidth, innerHeight];
    const panels = [...document.querySelectorAll("header, #card, #outline, #legend, #corner, #found, dialog[open]")].filter((one) => one.checkVisibility());
    const out = panels.map((one) => one.getBoundingClientRect()).filter((one) => one.width && (one.left < -1 || one.right > wide + 1 || one.top < -1 || one.bottom > tall + 1));
    return out.length === 0 && document.documentElement.scrollWidth <= wide;
  });

const ACCEPT = process.env.TBGRAPH_ACCEPT === "states";
const heading = (screen) => `# ${screen}, ${SCREENS[screen].width} × ${SCREENS[screen].height}`;

/** What a page shows once it shows the same two times: the text of a golden. */
async function atRest(tab) {
  let last = "";
  await until(async () => last === (last = (await told(tab)).join("\n")), "it has come to rest");
  return last.split("\n");
}

/** Throw where a page shows something else than a golden, with the first line of it. */
function compare(found, expected, where) {
  const at = found.findIndex((line, number) => line !== expected[number]);
  ok(at < 0 && found.length === expected.length, `${where}, line ${at + 1}: ${found[at]}, not ${expected[at]}`);
}

/** A test that brings a page into a state and waits for what was accepted. */
function shows(name, file, hash, act = async () => {}) {
  return async ({ tab, page }) => {
    const golden = path.join(__dirname, "states", `${name}.txt`);
    const lines = ACCEPT ? [] : fs.readFileSync(golden, "utf8").split("\n");
    const accepted = Object.fromEntries(Object.keys(SCREENS).map((screen) => {
      const start = lines.indexOf(heading(screen)) + 1;
      return [screen, lines.slice(start, lines.indexOf("", start))];
    }));
    for (const [screen, size] of Object.entries(SCREENS)) {
      await tab.setViewportSize(size);
      for (const theme of ["light", "dark"]) {
        await tab.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await tab.goto("about:blank");
        await page(file, hash);
        await act(tab);
        await settled(tab);
        if (ACCEPT && theme === "light") accepted[screen] = await atRest(tab);
        await eventually(async () => compare(await told(tab), accepted[screen], `${name}.txt, ${screen}, ${theme}`));
        await until(() => within(tab), `${screen}, ${theme}: all of it is in the window`);
      }
    }
    if (ACCEPT) fs.writeFileSync(golden, Object.entries(accepted).flatMap(([screen, shown]) => [heading(screen), ...shown, ""]).join("\n"));
  };
}

const find = (tab) => tab.getByRole("searchbox", { name: "Find" });
const press = (tab, name) => tab.getByRole("button", { name, exact: true }).first().click();
const summary = (tab, name) => tab.locator("summary").and(tab.getByLabel(name, { exact: true })).click();

test("state: the first picture", shows("first", "mnist.html", ""));
test("state: a group open and an op chosen", shows("card", "mnist.html", "open=conv1&select=conv1/Wx_plus_b/Conv2D"));
test("state: a search", shows("search", "mnist.html", "", async (tab) => {
  await tab.keyboard.press("Control+k");
  await find(tab).fill("op:MatMul or op:Conv2D");
  await seen(tab.getByText(/8 found/).first());
}));
test("state: a trace", shows("trace", "mnist.html", "trace=in:cross_entropy"));
test("state: times of a step", shows("time", "paces.html", "colour=compute-time&select=conv1"));
test("state: the table", shows("table", "mnist.html", "table=ops"));
test("state: the outline", shows("outline", "mnist.html", "", (tab) => press(tab, "Outline")));
test("state: settings", shows("settings", "mnist.html", "", (tab) => summary(tab, "Settings")));
test("state: sharing", shows("share", "mnist.html", "", (tab) => summary(tab, "Share")));
test("state: a diff", shows("diff", "diff.html", ""));
test("state: an open stack", shows("stack", "stack.html", "open=b_0&select=b_[0-5]"));
test("state: what a run logged", shows("logged", "training.html", ""));
