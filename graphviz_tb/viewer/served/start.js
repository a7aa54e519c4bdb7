// The page of a server.

const FIRST_WAIT = 3000; // milliseconds that the first look at the source may take until the page shows what there is

begin(async () => {
  const { title } = JSON.parse(byId("head").textContent);
  document.body.classList.add("served");
  const server = new ServerLog();
  const graphs = new GraphChooser(server, title);
  const bare = new Bare(title);
  Standing.later.add(LOGGED);
  server.listen((name, data) => {
    graphs.heard(name, data);
    if (name === "again") {
      graphs.anew ||= data.anew;
      server.state().then((state) => (graphs.anew ? state.ready && graphs.again(state.graphs) : graphs.set(state.graphs)), fault);
    }
  });
  let state = await server.state();
  for (const end = performance.now() + FIRST_WAIT; !state.ready && performance.now() < end; state = await server.state()) await new Promise((done) => setTimeout(done, PAUSE));
  graphs.set(state.graphs);
  const logs = beginLogs(server, () => graphs.app, () => graphs.graphs.length > 0, () => graphs.id, (id) => graphs.choose(id));
  Share.page = async (view) => {
    const text = await (await server.ask(`api/graphs/${graphs.id}/page`)).text();
    return new Blob([text.replace('"view":""', () => `"view":${scriptJson(view)}`)], { type: "text/html" });
  };
  await graphs.first();
  if (graphs.app) bare.end();
  const { scheme } = await logs;
  graphs.after = () => scheme.renew().catch(() => undefined); // where it cannot be asked for now, it is when something changes
  graphs.after();
});
