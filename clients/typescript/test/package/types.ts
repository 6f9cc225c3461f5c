// What the compiler must accept and refuse; types.test.mjs runs it. Nothing of this is executed.
import { Client, type Event, PregonError, proofs, type Report, type Reset, webhooks } from "pregon";
import { download } from "pregon/files";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_same: Same<A, B>): void {}

const client = new Client("https://service.example", { key: async () => "token" });

// @ts-expect-error an address is needed
new Client();
// @ts-expect-error the option has another name
new Client("https://service.example", { apiKey: "x" });

for await (const report of client.reports.search({ type: "IP", limit: 50 })) {
  same<typeof report, Report>(true);
  same<typeof report.summary, string | null>(true);
  // @ts-expect-error a report has no such field
  report.name;
}

// @ts-expect-error there is no such type of reports
client.reports.search({ type: "XX" });
// @ts-expect-error there is no such parameter
client.reports.search({ query: "dividendo" });
// @ts-expect-error `by` is needed
client.reports.counts({});

const [chosen] = await client.reports.search({ fields: "id,url" }).take(1);
same<undefined extends (typeof chosen & object)["title"] ? true : false, true>(true);

for await (const position of client.positions.list("dealing", { side: "buy" })) {
  same<(typeof position)["kind"], "dealing">(true);
}
// @ts-expect-error short positions have no side
client.positions.list("short", { side: "buy" });
// @ts-expect-error there is no such register
client.positions.list("shorts");

for await (const item of client.stream({ events: "report.published" }, { signal: AbortSignal.timeout(1000) })) {
  same<typeof item, Event | Reset>(true);
  if (item.event === "reset") {
    same<typeof item.reason, string>(true);
    continue;
  }
  same<typeof item.id, string>(true);
}
// @ts-expect-error a stream does not take the cursor of EventSource
client.stream({ last_event_id: "x" });

const status = await client.request("get", "/api/v1/status", {});
same<typeof status.state, string>(false); // one of some words
const key = await client.request("post", "/api/v1/account/keys", { body: { name: "x" } });
key.id;
await client.request("delete", "/api/v1/webhooks/{id}", { path: { id: "wh_1" } });
// @ts-expect-error the id is needed
await client.request("delete", "/api/v1/webhooks/{id}", {});
// @ts-expect-error there is no such operation
await client.request("post", "/api/v1/status", {});

const report = await client.reports.get("oir-1");
const verified = await proofs.verify(report, await client.reports.proof("oir-1"), "key");
same<typeof verified.unchecked, string[]>(true);
// @ts-expect-error a proof is not a report
await proofs.verify(await client.reports.proof("oir-1"), report, "key");

const event = await webhooks.verify(new Uint8Array(), new Headers(), ["a", "b"], { tolerance: 60 });
same<typeof event, webhooks.WebhookEvent>(true);
same<typeof event.cursor, string | undefined>(true);
if (event.event !== "webhook.test") {
  same<typeof event, Event>(true);
}

const copy = await download(client, "data", { files: [{ kind: "reports", format: "csv" }] });
client.changes({ after: copy.cursor });
// @ts-expect-error there is no such format
await download(client, "data", { files: [{ kind: "reports", format: "xml" }] });

try {
  await client.document("oir-1");
} catch (error) {
  if (error instanceof PregonError && error.kind === "rate_limited") {
    same<typeof error.retryAfter, number | undefined>(true);
  }
}
