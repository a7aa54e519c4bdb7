// Start a page that comes from a server.

import { byId } from "../dom.js";
import { LOGGED } from "../logs/scheme.js";
import { startLogs } from "../logs/start_logs.js";
import { PageWithoutGraph } from "../page_without_graph.js";
import { Share, scriptJson } from "../share.js";
import { reportFailure, startPage } from "../startup.js";
import { ViewState } from "../view_state.js";
import { GraphChooser, RETRY_PAUSE_MS } from "./graphs.js";
import { ServerLog } from "./log.js";

const MAX_FIRST_WAIT_MS = 3000; // milliseconds to wait for the first reading of the source before the page is shown

startPage(async () => {
  const { title } = JSON.parse(byId("head").textContent);
  document.body.classList.add("served");
  const server = new ServerLog();
  const graphs = new GraphChooser(server, title);
  const bare = new PageWithoutGraph(title);
  ViewState.laterSchemes.add(LOGGED);
  server.listen((name, data) => {
    graphs.onEvent(name, data);
    if (name === "again") graphs.relistGraphs(data.anew, server.state()).catch(reportFailure);
  });
  let state = await server.state();
  for (const end = performance.now() + MAX_FIRST_WAIT_MS; !state.ready && performance.now() < end; state = await server.state()) await new Promise((done) => setTimeout(done, RETRY_PAUSE_MS));
  graphs.setGraphs(state.graphs);
  const logs = startLogs(server, () => graphs.app, () => graphs.graphs.length > 0, () => graphs.id, (id) => graphs.chooseGraph(id));
  Share.makePage = async (view) => {
    const text = await (await server.request(`api/graphs/${graphs.id}/page`)).text();
    return new Blob([text.replace('"view":""', () => `"view":${scriptJson(view)}`)], { type: "text/html" });
  };
  await graphs.showFirst();
  if (graphs.app) bare.release();
  const { scheme } = await logs;
  graphs.onShown = () => scheme.refreshChoices().catch(() => undefined); // after a failure the next change refreshes them
  graphs.onShown();
});
