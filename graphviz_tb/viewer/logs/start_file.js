// Start the page of a file with a log, with or without a graph.

import { readPageData, showGraphInPage } from "../file_page.js";
import { PageWithoutGraph } from "../page_without_graph.js";
import { startPage } from "../startup.js";
import { FileLog } from "./file.js";
import { startLogs } from "./start_logs.js";

startPage(async () => {
  const { head, blocks } = readPageData();
  if (head.bare) new PageWithoutGraph(head.title);
  const app = head.bare ? null : await showGraphInPage(head, blocks);
  await startLogs(new FileLog(await blocks.get("log"), blocks), () => app, () => !!app);
});
