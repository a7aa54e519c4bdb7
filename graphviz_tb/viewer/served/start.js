// The page of a server.

begin(async () => {
  const { title } = JSON.parse(byId("head").textContent);
  document.body.classList.add("served");
  const server = new Server();
  const graphs = new GraphChooser(server, title);
  const again = async () => graphs.set((await server.json("api/state")).graphs);
  server.listen((name, data) => {
    graphs.heard(name, data);
    if (name === "again") again().then(() => graphs.app || graphs.first(), fault);
  });
  await again();
  await graphs.first();
});
