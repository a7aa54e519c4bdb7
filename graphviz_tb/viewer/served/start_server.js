// Start a page that comes from a server.

import { byId } from "../dom.js";
import { LOGGED } from "../logs/scheme.js";
import { beginLogs } from "../logs/start_logs.js";
import { PageWithoutGraph } from "../page_without_graph.js";
import { Share, scriptJson } from "../share.js";
import { reportFailure, startPage } from "../startup.js";
import { ViewState } from "../view_state.js";
import { GraphChooser, RETRY_PAUSE_MS } from "./graphs.js";
import { ServerLog } from "./log.js";

const FIRST_WAIT_MS = 3000; // milliseconds that the first look at the source may take until the page shows what there is

startPage(async () => {
  const { title } = JSON.parse(byId("head").textContent);
  document.body.classList.add("served");
  const server = new ServerLog();
  const graphs = new GraphChooser(server, title);
  const bare = new PageWithoutGraph(title);
  ViewState.laterSchemes.add(LOGGED);
  server.listen((name, data) => {
    graphs.onEvent(name, data);
    if (name === "again") graphs.askAgain(data.anew, server.state()).catch(reportFailure);
  });
  let state = await server.state();
  for (const end = performance.now() + FIRST_WAIT_MS; !state.ready && performance.now() < end; state = await server.state()) await new Promise((done) => setTimeout(done, RETRY_PAUSE_MS));
  graphs.setGraphs(state.graphs);
  const logs = beginLogs(server, () => graphs.app, () => graphs.graphs.length > 0, () => graphs.id, (id) => graphs.choose(id));
  Share.makePage = async (view) => {
    const text = await (await server.ask(`api/graphs/${graphs.id}/page`)).text();
    return new Blob([text.replace('"view":""', () => `"view":${scriptJson(view)}`)], { type: "text/html" });
  };
  await graphs.showFirst();
  if (graphs.app) bare.release();
  const { scheme } = await logs;
  graphs.after = () => scheme.renew().catch(() => undefined); // where it cannot be asked for now, it is when something changes
  graphs.after();
});
