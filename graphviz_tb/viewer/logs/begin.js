// Begin the pages of a log, beside a graph or without one.

/** @param {ServerLog} feed @param {App | null} app the graph, where there is one */
async function beginLogs(feed, app) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const alone = stateOf(location.hash);
  const logs = new Logs(feed, {
    graph: !!app,
    theme: () => app?.theme ?? (dark.matches ? "dark" : "light"),
    toast: (text) => (app ? app.toast(text) : undefined),
    remember: (values) => {
      if (app) {
        Object.assign(app.extra, values);
        app.remember();
      } else history.replaceState(null, "", `#${hashOf(Object.assign(alone, values))}`);
    },
  });
  new MutationObserver(() => logs.dressed()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  await logs.start(stateOf(location.hash));
  Object.assign(api, { page: async (/** @type {string} */ name) => logs.show(name), series: (/** @type {string} */ tag) => logs.scalars.drawn(tag) });
  return logs;
}
