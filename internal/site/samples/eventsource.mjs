// On your server, which keeps the key:
const answer = await fetch("BASE/api/v1/stream/tickets", {
  method: "POST",
  headers: { "X-API-Key": process.env.PREGON_KEY, "Content-Type": "application/json" },
  body: JSON.stringify({ filter: { type: "IP" } }),
});
const { url } = await answer.json();

// In the page:
const stream = new EventSource("BASE" + url);
stream.addEventListener("report.published", (e) => console.log(JSON.parse(e.data).title));
stream.onerror = () => {
  if (stream.readyState === EventSource.CLOSED) console.log("the ticket has expired: ask for another one");
};
