// Start the page of a file with a graph and without a log.

import { dataInPage, showGraphInPage } from "./file_page.js";
import { startPage } from "./startup.js";

startPage(async () => {
  const { head, blocks } = dataInPage();
  await showGraphInPage(head, blocks);
});
