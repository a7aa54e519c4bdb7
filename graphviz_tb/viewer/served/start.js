// The page of a server.

begin(async () => {
  const { title } = JSON.parse(byId("head").textContent);
  document.body.classList.add("served");
  const server = new ServerLog();
  const graphs = new GraphChooser(server, title);
  const bare = new Bare(title);
  server.listen((name, data) => {
    graphs.heard(name, data);
    if (name === "again") server.state().then((state) => graphs.again(state.graphs), fault);
  });
  graphs.set((await server.state()).graphs);
  const logs = beginLogs(server, () => graphs.app, () => graphs.graphs.length > 0);
  await graphs.first();
  if (graphs.app) bare.end();
  await logs;
});
