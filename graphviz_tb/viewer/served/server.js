// The server that sent the page: requests to it, and its events.

import { ServerLost } from "../data.js";
import { t } from "../strings.js";

const EVENTS = ["hello", "run", "graph", "points", "gone", "notice", "progress"];
const RETRY_SECONDS = [1, 2, 4, 8, 16, 30]; // pauses between attempts to reach a lost server

/** A refused request: status and answer. */
export class ServerRefusal extends Error {
  /** @param {number} status @param {any} answer */
  constructor(status, answer) {
    super(answer.error ?? String(status));
    this.status = status;
    this.answer = answer;
  }
}

export class Server {
  constructor() {
    /** whether the server answered last */
    this.isLive = true;
    /** @type {((name: string, data: any) => void)[]} */
    this.listeners = [];
    /** @type {((live: boolean) => void)[]} */
    this.watchers = [];
    this.generation = "";
    this.retryCount = 0;
  }

  /** @param {string} address beside the page @param {RequestInit} [how] */
  async request(address, how) {
    const answer = await fetch(address, how).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new ServerLost(t("lost"));
    });
    if (answer.ok) return answer;
    throw new ServerRefusal(answer.status, await answer.json().catch(() => ({})));
  }

  /** @param {string} address */
  async requestJson(address) {
    return (await this.request(address)).json();
  }

  /** Post a command. @param {string} address */
  post(address) {
    return this.request(address, { method: "POST", headers: { "X-Tbgraph": "1" } });
  }

  /** Listen to events, and to the state of the connection. @param {(name: string, data: any) => void} heard @param {(live: boolean) => void} [standing] */
  listen(heard, standing) {
    this.listeners.push(heard);
    if (standing) this.watchers.push(standing);
    if (this.listeners.length === 1) this.connect();
    else standing?.(this.isLive);
  }

  connect() {
    const since = this.generation ? `?since=${encodeURIComponent(this.generation)}` : "";
    const source = new EventSource(`api/events${since}`);
    source.onopen = () => this.setLive(true);
    source.onerror = () => {
      source.close();
      this.setLive(false);
      setTimeout(() => this.connect(), 1000 * RETRY_SECONDS[Math.min(this.retryCount++, RETRY_SECONDS.length - 1)]);
    };
    for (const name of EVENTS) source.addEventListener(name, (event) => this.onEvent(name, JSON.parse(/** @type {MessageEvent} */ (event).data)));
  }

  /** @param {string} name @param {any} data */
  onEvent(name, data) {
    const [before, now] = [this.generation, data.generation];
    this.generation = now;
    // A restarted server, or one that has dropped the missed events: request everything again.
    const anew = before.split("-")[0] !== now.split("-")[0];
    if (name === "hello" && before && before !== now) this.notifyListeners("again", { ...data, anew });
    else if (name !== "hello") this.notifyListeners(name, data);
  }

  /** @param {string} name @param {any} data */
  notifyListeners(name, data) {
    for (const heard of this.listeners) heard(name, data);
    document.dispatchEvent(new CustomEvent("tbgraph:live", { detail: { name, data } }));
  }

  /** @param {boolean} live */
  setLive(live) {
    this.isLive = live;
    if (live) this.retryCount = 0;
    for (const standing of this.watchers) standing(live);
  }
}
