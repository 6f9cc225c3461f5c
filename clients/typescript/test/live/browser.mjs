// Runs the client in Chromium, in a page of the service and in one of another origin. esbuild and
// playwright-core are among the checkers.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client } from "pregon";

const { PREGON_URL, PREGON_KEY, CHROME_PATH } = process.env;
const checkers = createRequire(new URL("../../../../checkers/package.json", import.meta.url));
const { build } = checkers("esbuild");
const { chromium } = checkers("playwright-core");

/** How long a step may take, in milliseconds. */
const longest = 60_000;

let browser;
let page;

before(async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: 'import * as pregon from "pregon"; globalThis.pregon = pregon;',
      resolveDir: fileURLToPath(new URL("../..", import.meta.url)),
    },
    bundle: true,
    format: "iife",
    platform: "browser",
    write: false,
  });
  browser = await chromium.launch({
    timeout: longest,
    executablePath: CHROME_PATH ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  const context = await browser.newContext({ bypassCSP: true });
  context.setDefaultTimeout(longest);
  page = await context.newPage();
  await page.goto(`${PREGON_URL}/llms.txt`);
  await page.evaluate(outputFiles[0].text);
  await page.evaluate((key) => void (globalThis.client = new pregon.Client(location.origin, { key })), PREGON_KEY);
}, { timeout: 2 * longest });

after(() => browser?.close());

const client = new Client(PREGON_URL, { key: PREGON_KEY });

test("lists and errors", { timeout: longest }, async () => {
  const ids = await page.evaluate(async () => (await client.reports.search({ limit: 3 }).take(7)).map(({ id }) => id));
  assert.equal(new Set(ids).size, 7);
  const kind = await page.evaluate(() => client.reports.get("oir-99999999").catch((error) => error.kind));
  assert.equal(kind, "not_found");
});

test("a stream with fetch, from a cursor", { timeout: longest }, async () => {
  const streamed = await page.evaluate(async () => {
    const cursors = [];
    for await (const { cursor } of client.stream({ after: "0", events: "report.published,report.backfilled" })) {
      cursors.push(cursor);
      if (cursors.length === 5) {
        return cursors;
      }
    }
  });
  const listed = [];
  for await (const { cursor } of client.changes({ after: "0", events: "report.published,report.backfilled", limit: 5 })) {
    listed.push(cursor);
    if (listed.length === 5) {
      break;
    }
  }
  assert.deepEqual(streamed, listed);
});

test("a ticket for EventSource, in a page of another origin", { timeout: longest }, async () => {
  const { url } = await client.ticket({ events: ["report.published", "report.backfilled"] });
  const other = await browser.newPage();
  const hello = await other.evaluate(
    (url) =>
      new Promise((resolve, reject) => {
        const stream = new EventSource(`${url}&after=0`);
        stream.addEventListener("hello", ({ data }) => {
          stream.close();
          resolve(JSON.parse(data));
        });
        stream.onerror = () => reject(new Error("the stream was refused"));
      }),
    url,
  );
  assert.equal(hello.after, 0);
  await other.close();
});

test("a proof", { timeout: longest }, async () => {
  const seq = await page.evaluate(async () => {
    const [{ id }] = await client.reports.search({ limit: 1, page: 9 }).take(1);
    const report = await client.reports.get(id);
    const verified = await pregon.proofs.verify(report, await client.reports.proof(id), await client.verifierKey());
    return verified.seq;
  });
  assert.ok(seq > 0);
});

test("the signature of a webhook", { timeout: longest }, async () => {
  const kind = await page.evaluate(() =>
    pregon.webhooks
      .verify("{}", { "webhook-id": "a", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,AAAA" }, "whsec_AAAA")
      .catch((error) => error.kind),
  );
  assert.equal(kind, "signature");
});
