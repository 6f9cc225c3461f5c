import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";

import { Client, PregonError } from "pregon";

const base = "https://service.example/pregon";

/** A client whose requests are answered by a function, with a record of them. */
function clientOf(answer, options = {}) {
  const requests = [];
  const fetch = async (url, init) => {
    init.signal.throwIfAborted();
    requests.push({ url: new URL(url), ...init });
    return answer(requests.length, requests.at(-1));
  };
  return { client: new Client(base, { key: "k", longestWait: 1, ...options, fetch }), requests };
}

const json = (value, status = 200, headers = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json", ...headers } });

const problem = (status, headers) =>
  json({ type: "urn:pregon:problem:x", title: "X", status, detail: "no" }, status, headers);

const page = (ids, number, total, limit = ids.length) => json({ data: ids.map((id) => ({ id })), total, page: number, limit });

async function rejected(promise, kind) {
  let error;
  await assert.rejects(promise, (e) => ((error = e), true));
  assert.ok(error instanceof PregonError, String(error));
  assert.equal(error.kind, kind, error.message);
  return error;
}

test("the address may have a path, and ids are encoded", async () => {
  const { client, requests } = clientOf(() => json({}));
  await client.reports.get("oir-1/../../x?y#z", { as_of: "2026-01-01 10:00+01:00" });
  assert.equal(
    requests[0].url.href,
    "https://service.example/pregon/api/v1/reports/oir-1%2F..%2F..%2Fx%3Fy%23z?as_of=2026-01-01+10%3A00%2B01%3A00",
  );
  for (const id of ["", ".", ".."]) {
    assert.throws(() => client.reports.get(id), TypeError);
  }
});

test("addresses that are none are refused", () => {
  for (const address of ["service.example", "ftp://service.example", "https://user:secret@service.example", "https://a.example/?key=x", ""]) {
    assert.throws(() => new Client(address), TypeError, address);
  }
});

test("a key is sent without encryption to this machine only", () => {
  for (const address of ["https://a.example", "http://127.0.0.1:8080", "http://[::1]:1", "http://localhost/x"]) {
    new Client(address, { key: "k" });
  }
  for (const address of ["http://a.example", "http://localhost.a.example", "http://127.0.0.1.a.example", "http://10.0.0.1"]) {
    assert.throws(() => new Client(address, { key: "k" }), TypeError, address);
    new Client(address, { key: "k", insecureHttp: true });
    new Client(address);
  }
});

test("options that are none are refused", () => {
  assert.throws(() => new Client(base, { retries: -1 }), TypeError);
  assert.throws(() => new Client(base, { timeout: Number.NaN }), TypeError);
});

test("the key is sent in a header, and is not shown", async () => {
  const { client, requests } = clientOf(() => json({ data: [] }));
  await client.watchlists.list();
  assert.equal(requests[0].headers.Authorization, "Bearer k");
  assert.equal(requests[0].redirect, "manual");
  assert.equal(requests[0].credentials, "omit");
  assert.match(requests[0].headers["User-Agent"], /^pregon-typescript\/\d/);
  assert.doesNotMatch(JSON.stringify(client) + requests[0].url, /Bearer/);
});

test("a function returns the key of each request", async () => {
  let number = 0;
  const { client, requests } = clientOf((n) => (n === 1 ? problem(503) : json({ data: [] })), { key: async () => `token-${++number}` });
  await client.watchlists.list();
  assert.deepEqual(requests.map(({ headers }) => headers.Authorization), ["Bearer token-1", "Bearer token-2"]);
});

test("a key that is none is refused, and is not in the message", async () => {
  for (const key of ["abc\ndef", "abc def", "clé"]) {
    assert.throws(
      () => new Client(base, { key }),
      (error) => error instanceof TypeError && !error.message.includes(key.slice(0, 2)),
      key,
    );
    const { client, requests } = clientOf(() => json({}), { key: () => key });
    const error = await rejected(client.reports.get("oir-1"), "invalid");
    assert.doesNotMatch(error.message, /abc|clé/);
    assert.equal(requests.length, 0);
  }
});

test("the end of the file of a key is not sent", async () => {
  for (const key of ["k\n", async () => " k\r\n"]) {
    const { client, requests } = clientOf(() => json({}), { key });
    await client.reports.get("oir-1");
    assert.equal(requests[0].headers.Authorization, "Bearer k");
  }
});

test("a request that would change something twice is sent once", async () => {
  for (const status of [429, 503]) {
    const { client, requests } = clientOf(() => problem(status, { "Retry-After": "0" }));
    await rejected(client.watchlists.create({ name: "x" }), status === 429 ? "rate_limited" : "unavailable");
    await rejected(client.watchlists.change("wl_1", { name: "x" }), status === 429 ? "rate_limited" : "unavailable");
    assert.equal(requests.length, 2);
  }
  const { client, requests } = clientOf((n) => (n === 1 ? problem(503) : new Response(null, { status: 204 })));
  await client.watchlists.delete("wl_1");
  assert.equal(requests.length, 2);
});

test("a time without an end is not one that is over at once", async () => {
  const delays = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (run, milliseconds) => {
    delays.push(milliseconds);
    return real(run, 1);
  };
  try {
    const { client } = clientOf(() => problem(503, { "Retry-After": "99999999999" }), {
      timeout: Infinity,
      longestWait: Infinity,
      retries: 1,
    });
    await assert.rejects(client.reports.get("oir-1"), PregonError);
  } finally {
    globalThis.setTimeout = real;
  }
  assert.ok(delays.length > 2);
  for (const delay of delays) {
    assert.ok(delay < 2 ** 31, `a timer of ${delay}`);
  }
});

test("a long Retry-After is not waited for", async () => {
  const { client, requests } = clientOf(() => problem(429, { "Retry-After": "2" }), { longestWait: 1999 });
  const error = await rejected(client.reports.get("oir-1"), "rate_limited");
  assert.equal(error.retryAfter, 2);
  assert.equal(error.problem.type, "urn:pregon:problem:x");
  assert.equal(requests.length, 1);
});

test("retries end", async () => {
  const { client, requests } = clientOf(() => problem(502), { retries: 2 });
  await rejected(client.reports.get("oir-1"), "unavailable");
  assert.equal(requests.length, 3);
});

test("a redirect is not followed", async () => {
  const { client, requests } = clientOf(() => new Response(null, { status: 302, headers: { Location: "https://other.example/" } }));
  const error = await rejected(client.reports.get("oir-1"), "invalid");
  assert.match(error.message, /other\.example/);
  assert.equal(requests.length, 1);
});

test("an aborted call has the reason of its signal", async () => {
  const reason = new Error("enough");
  const { client, requests } = clientOf((_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))));
  const abort = new AbortController();
  const call = client.reports.get("oir-1", {}, { signal: abort.signal });
  abort.abort(reason);
  await assert.rejects(call, (error) => error === reason);
  await assert.rejects(client.reports.get("oir-1", {}, { signal: abort.signal }), (error) => error === reason);
  assert.equal(requests.length <= 1, true);
  await assert.rejects(client.stream({}, { signal: abort.signal }).next(), (error) => error === reason);
});

test("an abort ends the wait between two attempts", async () => {
  const reason = new Error("enough");
  const abort = new AbortController();
  const { client } = clientOf(() => (setTimeout(() => abort.abort(reason)), problem(503, { "Retry-After": "3000" })), { longestWait: 1e7 });
  await assert.rejects(client.reports.get("oir-1", {}, { signal: abort.signal }), (error) => error === reason);
});

test("an answer that says nothing more is an error of the connection", async () => {
  const silent = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }));
  const { client } = clientOf((_, { signal }) => {
    const answer = silent();
    const reader = answer.body.getReader();
    const body = new ReadableStream({
      async pull(controller) {
        const { value } = await Promise.race([
          reader.read(),
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
        ]);
        controller.enqueue(value);
      },
    });
    return new Response(body);
  }, { timeout: 20, retries: 0 });
  const error = await rejected(client.reports.get("oir-1"), "connection");
  assert.match(error.message, /within 0\.02 seconds/);
});

test("items that move to a later page are not returned twice", async () => {
  const pages = [["a", "b"], ["b", "c"], ["d"]];
  const { client, requests } = clientOf((n) => page(pages[n - 1], n, 5, 2));
  const ids = [];
  for await (const report of client.reports.search({ limit: 2 })) {
    ids.push(report.id);
  }
  assert.deepEqual(ids, ["a", "b", "c", "d"]);
  assert.deepEqual(requests.map(({ url }) => url.searchParams.get("page")), ["1", "2", "3"]);
});

test("an answer that is no list is refused", async () => {
  for (const answer of [null, 5, {}, { data: 5 }]) {
    const { client } = clientOf(() => json(answer));
    await rejected(client.reports.search().take(1), "integrity");
    await rejected(client.bulk.newest(), "integrity");
  }
});

test("a list that never ends by its total ends with an empty page", async () => {
  const { client } = clientOf((n) => page(n < 4 ? [`r${n}`] : [], n, 1e9, 1));
  assert.equal((await client.reports.search().take(100)).length, 3);
});

test("counts are read by their values, not by the reports", async () => {
  const { client, requests } = clientOf((n) => json({ by: "type", data: [{ value: "IP" }], total: 1000, values: 1, page: n, limit: 50 }));
  assert.equal((await client.reports.counts({ by: "type" }).take(10)).length, 1);
  assert.equal(requests.length, 1);
});

test("facts that differ only in their evidence are two, and one that moves is one", async () => {
  const fact = (quote) => ({ report_id: "oir-1", kind: "dividend", fields: {}, evidence: [{ page: 1, quote }] });
  const pages = [[fact("a"), fact("b")], [fact("b"), fact("c")]];
  const { client } = clientOf((n) => json({ data: pages[n - 1], total: 4, page: n, limit: 2 }));
  const quotes = (await client.facts.list({ limit: 2 }).take(10)).map((fact) => fact.evidence[0].quote);
  assert.deepEqual(quotes, ["a", "b", "c"]);
});

test("a document without an end is refused", async () => {
  const piece = (n, more) =>
    json({ id: "oir-1", sha256: "a", total_chars: 9, token_estimate: 1, next_offset: n * 20_000_000, text: [], ...more });
  const long = clientOf((n) => piece(n));
  await rejected(long.client.document("oir-1"), "invalid");
  assert.equal(long.requests.length, 3);
  const replaced = clientOf((n) => piece(n, { sha256: String(n), next_offset: 1 }));
  await rejected(replaced.client.document("oir-1"), "integrity");
  assert.equal(replaced.requests.length, 8);
  const strange = clientOf((n) => piece(n, { next_offset: n === 1 ? 1 : "x" }));
  await rejected(strange.client.document("oir-1"), "integrity");
});

test("a document is read in pieces, and again if it was replaced", async () => {
  const piece = (sha256, offset, next, text) =>
    json({ id: "oir-1", sha256, total_chars: 4, token_estimate: 1, offset, next_offset: next, text });
  const pieces = [
    piece("a", 0, 2, [{ page: 1, text: "xx" }]),
    piece("b", 2, null, [{ page: 1, text: "dd" }]),
    piece("b", 0, 2, [{ page: 1, text: "ab" }]),
    piece("b", 2, null, [{ page: 1, text: "c" }, { page: 2, text: "d" }]),
  ];
  const { client } = clientOf((n) => pieces[n - 1]);
  const document = await client.document("oir-1");
  assert.deepEqual(document.text, [{ page: 1, text: "abc" }, { page: 2, text: "d" }]);
  assert.equal(document.next_offset, null);
  assert.equal(document.token_estimate, 2);
});

test("a document that is still read is waited for", async () => {
  const { client, requests } = clientOf(() => json({ id: "oir-1" }, 202, { "Retry-After": "0" }), { retries: 2 });
  const error = await rejected(client.document("oir-1"), "unavailable");
  assert.equal(error.status, 202);
  assert.equal(requests.length, 3);
});

test("the key is never sent to another address, over a real connection", async () => {
  const asked = [];
  const other = createServer((request, response) => (asked.push(request.headers), response.end("{}")));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const elsewhere = `http://127.0.0.1:${other.address().port}/`;
  const server = createServer((_, response) => response.writeHead(307, { Location: elsewhere }).end());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const client = new Client(`http://127.0.0.1:${server.address().port}`, { key: "k" });
    await rejected(client.reports.get("oir-1"), "invalid");
    assert.deepEqual(asked, []);
  } finally {
    server.close();
    other.close();
  }
});

test("sums and counts that move to another page are given once", async () => {
  const pages = [[{ issuer_id: "A" }, { issuer_id: null, isin: "ES1" }], [{ issuer_id: null, isin: "ES1" }, { issuer_id: "B" }]];
  const sums = clientOf((n) => json({ data: pages[n - 1], total: 4, page: n, limit: 2 }));
  assert.equal((await sums.client.positions.shortTotals({ limit: 2 }).take(10)).length, 3);
  const names = [[{ value: null, name: "X" }, { value: null, name: "Y" }], [{ value: null, name: "Y" }, { value: "Y", name: "Y" }]];
  const counts = clientOf((n) => json({ by: "issuer", data: names[n - 1], total: 9, values: 4, page: n, limit: 2 }));
  assert.equal((await counts.client.reports.counts({ by: "issuer", limit: 2 }).take(10)).length, 3);
});
