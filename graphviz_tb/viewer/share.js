// Share: the link, the view as a file, the picture for a paper.

import { hashOf } from "./address.js";
import { byId, el, removeChildren } from "./dom.js";
import { fillChooser } from "./page_frame.js";
import { download, fileName, pictureSvg, savePng, saveSvg } from "./save.js";
import { t } from "./strings.js";
import { viewText } from "./view_file.js";

export class Share {
  /** Returns the page of a view, to be saved as a file; set by a file's page or a server's page. @type {((view: string) => Promise<Blob>) | null} */
  static makePage = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.menu = byId("share");
    this.menu.addEventListener("toggle", () => this.menu.open && this.updateChoices());
    const onClick = (/** @type {string} */ id, /** @type {() => any} */ run) => byId(id).addEventListener("click", run);
    onClick("copy-link", () => this.copyLink());
    onClick("save-html", () => this.savePage());
    onClick("save-view", () => this.saveView());
    onClick("save-svg", () => saveSvg(app, this.chosenShot()));
    onClick("save-png", () => savePng(app, this.chosenShot()));
    onClick("print-picture", () => this.print());
    addEventListener("beforeprint", () => byId("print").replaceChildren(pictureSvg(app, this.chosenShot())));
    addEventListener("afterprint", () => removeChildren(byId("print")));
  }

  /** Enable the entries that apply now. */
  updateChoices() {
    const parts = ["whole", "screen", ...(this.app.state.hostPath && this.app.view.boxAt(this.app.state.hostPath) ? ["chosen"] : [])];
    const was = byId("save-part").value;
    fillChooser("save-part", parts.map((part) => [part, t(`share.${part}`)]), parts.includes(was) ? was : "whole");
    byId("link-note").hidden = location.protocol !== "file:";
    byId("save-html").hidden = !Share.makePage;
    byId("save-view").hidden = !!this.app.state.head.changes; // the open groups of a diff belong to its changes
  }

  /** The chosen content of the saved picture. @returns {Shot} */
  chosenShot() {
    const isChecked = (/** @type {string} */ id) => byId(id).checked;
    const part = byId("save-part").value || "whole";
    const gone = part === "chosen" && !(this.app.state.hostPath && this.app.view.boxAt(this.app.state.hostPath));
    return { part: gone ? "whole" : part, title: isChecked("save-title"), legend: isChecked("save-legend"), marks: isChecked("save-marks") };
  }

  /** Copy a link to the present view. */
  async copyLink() {
    const { app } = this;
    app.history.writeAddress();
    this.menu.open = false;
    await copyText(location.href);
    app.frame.toast(location.protocol === "file:" ? `${t("copied")}. ${t("share.fileLink")}` : t("copied"), location.protocol === "file:" ? 7000 : undefined);
  }

  /** Save the page as a file that opens with the present view. */
  async savePage() {
    const { app } = this;
    const { page, ...state } = app.addressValues(); // the view of the graph begins with the graph, of any other page with that page
    this.menu.open = false;
    download(await /** @type {(view: string) => Promise<Blob>} */ (Share.makePage)(hashOf(page && page !== "graph" ? { ...state, page } : state)), `${fileName(app)}.html`);
  }

  /** Save open groups, moves and colours as a view file for the command line. */
  saveView() {
    this.menu.open = false;
    download(new Blob([viewText(this.app)], { type: "application/toml" }), "tbgraph.toml");
  }

  /** Print the picture, or make a PDF of it. */
  print() {
    this.menu.open = false;
    print();
  }
}

/** Put a text on the clipboard. @param {string} text */
export async function copyText(text) {
  try {
    if (parent !== window) throw new Error("a frame may not write to the clipboard by itself");
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** JSON that may be in a script element: it cannot end the element or begin a comment. @param {any} value */
export const scriptJson = (value) => JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
