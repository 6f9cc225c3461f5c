// Runs the cases of clients/cases.json, which clients/README.md describes, against the service
// that TestClients in cmd/pregon starts.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { Client, PregonError, proofs, webhooks } from "pregon";
import { download } from "pregon/files";

const { PREGON_URL, PREGON_KEY, PREGON_CONTROL, PREGON_CASES } = process.env;

/** The time that a case may take, in milliseconds. */
const longest = 60_000;

async function control(path, body) {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`${PREGON_CONTROL}${path}`, { ...init, signal: AbortSignal.timeout(longest) });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

function clientOf({ key, client = {} }) {
  const { timeout, ...options } = client;
  return new Client(PREGON_URL, {
    key: key === "none" ? undefined : (key ?? PREGON_KEY),
    ...(timeout && { timeout: timeout * 1000 }),
    ...options,
  });
}

/** Each call returns items as an async iterable, or a promise of an answer. */
const calls = {
  "reports.search": (client, args, options) => client.reports.search(args, options),
  "reports.get": (client, { id, ...args }, options) => client.reports.get(id, args, options),
  "reports.counts": (client, args, options) => firstPage(client.reports.counts(args, options)),
  "facts.list": (client, args, options) => client.facts.list(args, options),
  "calendar.list": (client, args, options) => client.calendar.list(args, options),
  "positions.list": (client, { kind, ...args }, options) => client.positions.list(kind, args, options),
  "issuers.search": (client, args, options) => client.issuers.search(args, options),
  "watchlists.list": (client, args, options) => afterwards(client.watchlists.list(options)),
  document: (client, { id }, options) => client.document(id, options),
  stream: (client, args, options) => client.stream(args, options),
  changes: (client, args, options) => client.changes(args, options),
  "bulk.download": downloadAndFollow,
  "webhooks.verify": (_, { body, headers, secret }) => webhooks.verify(body, headers, secret),
  "proofs.verify": (_, { report, proof, vkey }) => proofs.verify(JSON.parse(report), JSON.parse(proof), vkey),
};

async function firstPage(list) {
  for await (const page of list.pages()) {
    return page;
  }
}

async function* afterwards(promise) {
  yield* await promise;
}

async function* downloadAndFollow(client, { kind, format, ...args }, options, outcome) {
  const directory = await mkdtemp(join(tmpdir(), "pregon-bulk-"));
  try {
    const { cursor } = await download(client, directory, { files: [{ kind, format }], ...options });
    yield* client.changes({ after: cursor, ...args }, options);
  } finally {
    outcome.files = await hashesOf(directory);
    await rm(directory, { recursive: true });
  }
}

async function hashesOf(directory) {
  const names = (await readdir(directory)).sort();
  const contents = await Promise.all(names.map((name) => readFile(join(directory, name))));
  return contents.map((content) => createHash("sha256").update(content).digest("hex"));
}

/** Makes the call and returns what the caller learns. */
async function run(known, options) {
  const outcome = {
    items: [],
    resets: 0,
    files: [],
    answer: undefined,
    error: undefined,
  };
  const during = [...(known.during ?? [])];
  const happen = async () => {
    while (during.length > 0 && during[0].after <= outcome.items.length) {
      const { post, body } = during.shift();
      await control(post, body ?? {});
    }
  };
  const take = known.take ?? Infinity;
  try {
    const called = calls[known.call](clientOf(known), known.args ?? {}, options, outcome);
    await happen();
    if (called[Symbol.asyncIterator] === undefined) {
      outcome.answer = await called;
      return outcome;
    }
    for await (const item of called) {
      if (item.event === "reset") {
        outcome.resets++;
        continue;
      }
      outcome.items.push(item);
      await happen();
      if (outcome.items.length >= take) {
        break;
      }
    }
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

const idOf = (item) => item.cursor ?? item.id ?? item.uid ?? item.report_id;

function at(value, path) {
  return path.split(".").reduce((inner, name) => inner?.[name], value);
}

const checks = ["ids", "ids_of", "count", "unique", "files", "events", "reset", "field", "error", "requests"];

async function check({ expect, take }, outcome) {
  const unknown = Object.keys(expect).filter((name) => !checks.includes(name));
  assert.deepEqual(unknown, [], "this runner does not know these names of expect");
  const { items, error } = outcome;
  if (expect.error) {
    checkError(expect.error, error);
  } else if (error) {
    throw error;
  }
  const ids = items.map(idOf);
  if (expect.ids) {
    assert.deepEqual(ids, expect.ids);
  }
  if (expect.ids_of) {
    const wanted = await control(`/ids?path=${encodeURIComponent(expect.ids_of)}`);
    assert.deepEqual(ids, wanted.ids.slice(0, take));
  }
  if (expect.count !== undefined) {
    assert.equal(items.length, expect.count);
  }
  if (expect.files) {
    assert.deepEqual(outcome.files, expect.files, "files");
  }
  if (expect.unique) {
    assert.equal(new Set(ids).size, ids.length, "an id is there twice");
  }
  if (expect.events) {
    assert.deepEqual(items.map((item) => item.event), expect.events);
  }
  assert.equal(outcome.resets, expect.reset ?? 0, "resets");
  for (const [path, value] of Object.entries(expect.field ?? {})) {
    assert.deepEqual(at(outcome.answer, path), value, path);
  }
  if (expect.requests) {
    const { count, paths } = await control("/requests");
    const { min = 0, max = Infinity } = expect.requests;
    assert.ok(count >= min && count <= max, `${count} requests, from ${min} to ${max} expected: ${(paths ?? []).join(" ")}`);
  }
}

function checkError(expected, error) {
  assert.ok(error instanceof PregonError, `a PregonError expected, not ${error}`);
  assert.equal(error.kind, expected.kind, error.message);
  if (expected.status !== undefined) {
    assert.equal(error.status, expected.status);
  }
  if (expected.type !== undefined) {
    assert.equal(error.problem?.type, expected.type);
  }
  if (expected.retry_after) {
    assert.ok(error.retryAfter > 0, `retryAfter is ${error.retryAfter}`);
  }
}

const { cases } = JSON.parse(await readFile(PREGON_CASES, "utf8"));
assert.ok(cases.length > 0, "there are no cases");

for (const { name } of cases) {
  test(name, { timeout: 2 * longest }, async () => {
    const known = await control("/case", { name });
    const outcome = await run(known, { signal: AbortSignal.timeout(longest) });
    await check(known, outcome);
  });
}
