// Start the pages of a log, with or without a graph.

import { hashOf, stateOf } from "../address.js";
import { Card } from "../card.js";
import { scriptApi } from "../startup.js";
import { Logs } from "./logs.js";
import "./words.js";

/** @param {LogFeed} feed @param {() => App | null} app returns the app of the graph, once there is one @param {() => boolean} graph whether there is one, or will be @param {() => string} graphId which one it is @param {(id: string) => Promise<void>} chooseGraph show another one */
export async function startLogs(feed, app, graph, graphId = () => "", chooseGraph = async () => undefined) {
  const logs = new Logs(feed, {
    graph,
    app,
    graphId,
    chooseGraph,
    theme: () => document.documentElement.dataset.theme ?? "light",
    toast: (text) => app()?.frame.toast(text),
    remember: (values) => {
      const shown = app();
      if (shown) {
        Object.assign(shown.state.otherValues, values);
        shown.history.writeAddress();
      } else history.replaceState(null, "", `#${hashOf({ ...stateOf(location.hash), ...values })}`);
    },
  });
  new MutationObserver(() => logs.onTheme()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  Card.loggedSection = (path) => logs.joins.cardRegion(path);
  Card.timelineLink = (path) => (logs.state?.kinds.profile ? () => logs.profilePage().showNode(app().state.graph.address(path)) : null);
  await logs.start(stateOf(location.hash));
  Object.assign(scriptApi, { page: (/** @type {string} */ name) => logs.show(name), series: (/** @type {string} */ tag) => logs.drawnPoints(tag), step: async (/** @type {number | null} */ step) => logs.setStep(step) });
  return logs;
}
