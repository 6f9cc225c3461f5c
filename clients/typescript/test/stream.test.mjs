import assert from "node:assert/strict";
import test from "node:test";

import { Client } from "pregon";

const event = (seq, epoch = "e") => ({
  id: `oir-${seq}`,
  seq,
  cursor: `${epoch}-${seq}`,
  event: "report.published",
  occurred_at: "2026-04-22T10:00:00Z",
  changed: [],
});

const message = (name, id, data) => `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const hello = (cursor, more = {}) => message("hello", cursor, { cursor, reset: null, reason: null, ...more });
const published = (seq, epoch) => message("report.published", event(seq, epoch).cursor, event(seq, epoch));

const answerOf = (text) => new Response(text, { headers: { "Content-Type": "text/event-stream" } });

/** Reads a stream whose connections have these texts, and returns what the caller gets and the cursors asked for. */
async function read(texts, take, parameters = {}) {
  const asked = [];
  const fetch = async (url) => {
    asked.push(url.searchParams.get("after"));
    return answerOf(texts[asked.length - 1] ?? assert.fail("one connection too many"));
  };
  const client = new Client("https://service.example", { fetch });
  const items = [];
  for await (const item of client.stream(parameters)) {
    items.push(item.event === "reset" ? `reset ${item.cursor}` : item.cursor);
    if (items.length === take) {
      break;
    }
  }
  return { items, asked };
}

test("a stream continues with the last event, and drops what it has given", async () => {
  const first = hello("e-0") + published(1) + published(2) + published(3).slice(0, -1);
  const second = hello("e-2") + published(2) + published(3) + published(3) + published(4);
  const { items, asked } = await read([first, second], 4);
  assert.deepEqual(items, ["e-1", "e-2", "e-3", "e-4"]);
  assert.deepEqual(asked, [null, "e-2"]);
});

test("a heartbeat advances the cursor", async () => {
  const first = hello("e-0") + message("heartbeat", "e-90", { seq: 90 });
  const { asked } = await read([first, hello("e-90") + published(91)], 1, { after: "0" });
  assert.deepEqual(asked, ["0", "e-90"]);
});

test("an event of a later version is not given, and advances the cursor", async () => {
  const first = hello("e-0") + message("weather", "e-5", { sun: true });
  const { items, asked } = await read([first, published(6)], 1);
  assert.deepEqual(items, ["e-6"]);
  assert.deepEqual(asked, [null, "e-5"]);
});

test("the caller learns of a reset once, in its place", async () => {
  const reset = { reset: { reason: "restored", after: "f-1", time: null }, reason: "restored" };
  const again = hello("f-1", reset);
  const { items, asked } = await read([hello("e-7") + published(8), again + again + published(2, "f") + published(3, "f")], 4);
  assert.deepEqual(items, ["e-8", "reset f-1", "f-2", "f-3"]);
  assert.deepEqual(asked, [null, "e-8"]);
});

test("a cursor that the service does not know is a reset", async () => {
  const { items } = await read([hello("e-4", { requested: "e-99", reason: "ahead of all changes" }) + published(5)], 2, { after: "e-99" });
  assert.deepEqual(items, ["reset e-4", "e-5"]);
});

test("an event that is damaged or too long is an error, and not asked for again and again", async () => {
  for (const wrong of [published(1).replace('{"id"', '{"id'), `data: ${"x".repeat(5 << 20)}`]) {
    const fetch = async () => answerOf(hello("e-0") + wrong);
    await assert.rejects(new Client("https://service.example", { fetch }).stream().next(), { name: "PregonError", kind: "integrity" });
  }
});

test("leaving the loop ends the connection", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(hello("e-0") + published(1))),
    cancel: () => void (cancelled = true),
  });
  let signal;
  const fetch = async (_, init) => ((signal = init.signal), answerOf(body));
  for await (const _ of new Client("https://service.example", { fetch }).stream()) {
    break;
  }
  assert.ok(cancelled);
  assert.ok(signal.aborted);
});

test("a page that is no stream is refused", async () => {
  const fetch = async () => new Response("<h1>Welcome</h1>", { headers: { "Content-Type": "text/html" } });
  await assert.rejects(new Client("https://service.example", { fetch }).stream().next(), { kind: "integrity" });
});

/** Runs with timers that end at once, but for those of connections, and returns their times. */
async function withoutWaiting(run) {
  const connections = [25_000 + 30_000, 45_000, 30_000];
  const waits = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (call, milliseconds, ...rest) => {
    if (connections.includes(milliseconds)) {
      return real(call, milliseconds, ...rest);
    }
    waits.push(milliseconds);
    return real(call, 0, ...rest);
  };
  try {
    await run();
  } finally {
    globalThis.setTimeout = real;
  }
  return waits;
}

test("what is no change is not read, and what is no event of this version does no harm", async () => {
  const strange =
    "event: notice\ndata: hello\n\n" +
    "event: system.notice\ndata: hello\n\n" +
    "id: e-1\nevent: weather.changed\ndata: sun\n\n" +
    "id: e-2\nevent: weather.changed\ndata: [1]\n\n" +
    "id: e-3\nevent: status\ndata: {\n\n";
  const later = message("weather.changed", "e-4", { event: "weather.changed", cursor: "e-4" });
  const { items, asked } = await read([hello("e-0") + strange + later + published(5)], 2);
  assert.deepEqual(items, ["e-4", "e-5"]);
  assert.deepEqual(asked, [null]);
});

test("a stream that never says hello ends after the retries", async () => {
  let connections = 0;
  const fetch = async () => (connections++, answerOf(": refused\n\n"));
  await withoutWaiting(() =>
    assert.rejects(new Client("https://service.example", { fetch, retries: 2 }).stream().next(), { kind: "connection" }),
  );
  assert.equal(connections, 3);
});

test("a stream whose hello is none is refused", async () => {
  for (const data of ["{", "5", "null", "{}", '{"cursor":5}', '{"cursor":"x y"}']) {
    const fetch = async () => answerOf(`event: hello\ndata: ${data}\n\n`);
    await assert.rejects(new Client("https://service.example", { fetch }).stream().next(), { kind: "integrity" }, data);
  }
});

test("a quiet stream that is cut again and again is opened again", async () => {
  await withoutWaiting(async () => {
    const quiet = Array(10).fill(hello("e-0"));
    const { items } = await read([...quiet, hello("e-0") + published(1)], 1);
    assert.deepEqual(items, ["e-1"]);
  });
});

test("a stream waits as long as it was asked to, up to a minute", async () => {
  for (const [retry, least, most] of [[10_000, 10_000, 15_000], [999_999_999, 60_000, 90_000]]) {
    let connections = 0;
    const texts = [`retry: ${retry}\n` + hello("e-0"), hello("e-0") + published(1)];
    const fetch = async () => answerOf(texts[connections++]);
    const client = new Client("https://service.example", { fetch, longestWait: Infinity });
    const waits = await withoutWaiting(() => client.stream().next());
    assert.equal(waits.length, 1);
    assert.ok(waits[0] >= least && waits[0] <= most, `a wait of ${waits[0]} for ${retry}`);
  }
});

test("changes without progress are asked for again after a while", async () => {
  for (const more of [false, true]) {
    let answers = 0;
    const fetch = async () => {
      answers++;
      return Response.json({ data: answers < 4 ? [] : [event(1)], next: answers < 4 ? "e-0" : "e-1", more, reset: null });
    };
    const client = new Client("https://service.example", { fetch });
    const waits = await withoutWaiting(() => client.changes({ after: "e-0", follow: true }).next());
    assert.equal(waits.length, 3);
    assert.ok(waits.every((wait) => wait >= 500 && wait <= 1000), waits.join());
  }
});

test("changes with wait end", async () => {
  const asked = [];
  const fetch = async (url) => {
    asked.push(url.searchParams.get("wait"));
    return Response.json({ data: [event(1)], next: "e-1", more: false, reset: null });
  };
  const items = [];
  for await (const item of new Client("https://service.example", { fetch }).changes({ wait: 10 })) {
    items.push(item.cursor);
  }
  assert.deepEqual(items, ["e-1"]);
  assert.deepEqual(asked, ["10"]);
});

test("an answer that is no list of changes is refused", async () => {
  for (const page of [null, 5, [], {}, { data: [] }, { data: 5, next: "e-1" }, { data: [], next: "x" }]) {
    const fetch = async () => Response.json(page);
    await assert.rejects(new Client("https://service.example", { fetch }).changes().next(), { kind: "integrity" });
  }
});

test("changes that are followed go on after the newest", async () => {
  const pages = [
    { data: [event(1)], next: "e-1", more: true, reset: null },
    { data: [], next: "e-9", more: false, reset: null },
    { data: [event(10)], next: "e-10", more: false, reset: { reason: "restored", after: "e-9", time: null } },
  ];
  const asked = [];
  const fetch = async (url) => {
    asked.push(url.searchParams.get("after"));
    assert.equal(url.searchParams.get("wait"), "25");
    assert.equal(url.searchParams.has("follow"), false);
    return Response.json(pages[asked.length - 1]);
  };
  const items = [];
  for await (const item of new Client("https://service.example", { fetch }).changes({ follow: true })) {
    items.push(item.cursor);
    if (items.length === 3) {
      break;
    }
  }
  assert.deepEqual(items, ["e-1", "e-9", "e-10"]);
  assert.deepEqual(asked, ["0", "e-1", "e-9"]);
});
