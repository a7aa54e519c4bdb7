// The page of a file: its data lies in it.

begin(async () => {
  const head = JSON.parse(byId("head").textContent);
  if (head.view && location.hash.length < 2) take(head.view);
  const scripts = /** @type {any[]} */ ([...document.querySelectorAll("script[data-block]")]);
  const blocks = new Blocks(scripts.map((one) => ({ name: one.dataset.block, kind: one.dataset.kind, digest: one.dataset.digest, read: () => one.textContent })));
  /** @type {App | null} */
  let app = null;
  if (head.bare) new Bare(head.title);
  else {
    app = appOf(await graphOf(head, blocks), head);
    await app.queue(() => /** @type {App} */ (app).restore({ ...asked(head), ...stateOf(location.hash) }));
    app.past = [];
  }
  if (head.log) await beginLogs(new FileLog(await blocks.get("log"), blocks), () => app, () => !!app);
});
