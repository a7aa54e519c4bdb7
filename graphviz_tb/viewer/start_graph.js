// Start the page of a file that has a graph and no log.

import { dataInPage, showGraphInPage } from "./file_page.js";
import { startPage } from "./startup.js";

startPage(async () => {
  const { head, blocks } = dataInPage();
  await showGraphInPage(head, blocks);
});
