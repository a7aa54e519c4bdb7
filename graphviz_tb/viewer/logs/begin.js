// Begin the pages of a log, beside a graph or without one.

/** @param {LogFeed} feed @param {() => App | null} app what shows the graph, once there is one @param {() => boolean} graph whether there is one, or will be @param {() => string} graphId which one it is @param {(id: string) => Promise<void>} chooseGraph show another one */
async function beginLogs(feed, app, graph, graphId = () => "", chooseGraph = async () => undefined) {
  const logs = new Logs(feed, {
    graph,
    app,
    graphId,
    chooseGraph,
    theme: () => document.documentElement.dataset.theme ?? "light",
    toast: (text) => app()?.toast(text),
    remember: (values) => {
      const shown = app();
      if (shown) {
        Object.assign(shown.extra, values);
        shown.remember();
      } else history.replaceState(null, "", `#${hashOf({ ...stateOf(location.hash), ...values })}`);
    },
  });
  new MutationObserver(() => logs.dressed()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  Card.logged = (path) => logs.joined.region(path);
  Card.timeline = (path) => (logs.state?.kinds.profile ? () => logs.profilePage().from(app().graph.address(path)) : null);
  await logs.start(stateOf(location.hash));
  Object.assign(api, { page: (/** @type {string} */ name) => logs.show(name), series: (/** @type {string} */ tag) => logs.points(tag), step: async (/** @type {number | null} */ step) => logs.setStep(step) });
  return logs;
}
