// Start the page of a file with a graph and without a log.

import { readPageData, showGraphInPage } from "./file_page.js";
import { startPage } from "./startup.js";

startPage(async () => {
  const { head, blocks } = readPageData();
  await showGraphInPage(head, blocks);
});
