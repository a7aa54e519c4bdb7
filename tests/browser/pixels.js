// The page beside the files that `tbgraph render` writes of the same open groups: pixel by pixel.

const fs = require("node:fs");

const PAST = 110; // a legend may reach into an empty corner of the picture

/** The pixels of pictures that differ, each compared with the first, drawn as large as itself and
 * taken from `left`, `top` of it on.
 * A pixel differs where its three colours are further away than what two ways to draw the edge of a letter make. */
async function differing(context, pictures) {
  const tab = await context.newPage();
  const told = pictures.map(({ data, type, ...part }) => ({ uri: `data:${type};base64,${data.toString("base64")}`, ...part }));
  const found = await tab.evaluate(async (told) => {
    const load = async ({ uri }) => {
      const image = new Image();
      image.src = uri;
      await image.decode();
      return image;
    };
    const images = await Promise.all(told.map(load));
    const pixels = (at, width, height, scale) => {
      const { left = 0, top = 0 } = told[at];
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const on = canvas.getContext("2d");
      on.drawImage(images[at], -left * scale, -top * scale, images[at].width * scale, images[at].height * scale);
      return on.getImageData(0, 0, width, height).data;
    };
    return images.slice(1).map((image, at) => {
      const scale = told[at + 1].scale ?? 1;
      const [width, height] = [told[at + 1].width ?? image.width, told[at + 1].height ?? image.height];
      const [one, other] = [pixels(0, width, height, scale), pixels(at + 1, width, height, 1)];
      let count = 0;
      for (let i = 0; i < one.length; i += 4) count += [0, 1, 2].reduce((sum, part) => sum + Math.abs(one[i + part] - other[i + part]), 0) > 60;
      return { count, colours: new Set(new Uint32Array(other.buffer)).size, size: [width, height] };
    });
  }, told);
  await tab.close();
  return found;
}

const written = ({ folder }, file) => ({ data: fs.readFileSync(`${folder}/${file}`), type: "image/svg+xml" });

/** What is on the screen, beside a file that render wrote. */
async function shownAs(given, file) {
  const corner = await given.tab.getByRole("main").boundingBox();
  const clip = { x: corner.x + 420 + PAST, y: corner.y + 20, width: 340, height: 400 }; // no minimap
  const drawn = written(given, file);
  const [left, top] = /translate\((\d+ \d+)\)/.exec(String(drawn.data))[1].split(" ").map(Number);
  const few = (clip.width * clip.height) / 10_000; // a letter's edge here and there: a screen has layers, an image none
  await eventually(async () => {
    const screen = { data: await given.tab.screenshot({ clip, animations: "disabled" }), type: "image/png" };
    const [{ count, colours }] = await differing(given.context, [{ ...drawn, left: left + PAST, top }, screen]);
    ok(colours > 20 && count <= few, `on the screen ${count} pixels of ${clip.width * clip.height} differ`);
  });
}

/** What is saved, beside the same file. */
async function savedAs(given, file) {
  const { tab, context } = given;
  await tab.getByLabel("Share").click();
  const asked = async (name) => (await saved(tab, () => tab.getByRole("button", { name }).click())).data;
  const svg = { data: await asked("Save SVG"), type: "image/svg+xml" };
  const png = { data: await asked("Save PNG"), type: "image/png", scale: 2 };
  const drawn = written(given, file);
  const hatched = String(drawn.data).includes("url(#hatch)"); // hatching begins elsewhere in the legend of a page
  for (const { count, colours, size } of await differing(context, [drawn, svg, png])) {
    ok(colours > 20 && size[0] > 400, `a picture of ${size}`);
    ok(count <= (hatched ? (size[0] * size[1]) / 1000 : 0), `saved: ${count} pixels differ`);
  }
}

test("what is on the screen and what is saved is what render draws, pixel by pixel", async ({ tab, page, context, folder }) => {
  await page("same.html", "open=conv1,train&at=300,406,852");
  await shownAs({ tab, context, folder }, "same_light.svg");
  await savedAs({ tab, context, folder }, "same_light.svg");
});

test("so it is with what was measured, in the dark", async ({ tab, page, context, folder }) => {
  await page("same.html", "open=fc1&colour=compute-time&theme=dark&at=300,406,852");
  await shownAs({ tab, context, folder }, "same_dark.svg");
  await savedAs({ tab, context, folder }, "same_dark.svg");
});

test("the picture of a diff is the one that tbgraph diff draws", async ({ tab, page, context, folder }) => {
  await page("same_diff.html", "at=460,406,852"); // beside the list of changes
  await shownAs({ tab, context, folder }, "same_diff.svg");
});
