import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

import { Client } from "pregon";
import { download } from "pregon/files";

const content = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i * 7));

const snapshot = (sha256 = createHash("sha256").update(content).digest("hex")) => ({
  id: "20261119T020003Z-7",
  seq: 7,
  cursor: "e-7",
  files: [
    {
      kind: "reports",
      format: "parquet",
      url: "https://another.example/base/api/v1/bulk/20261119T020003Z-7/reports.parquet",
      bytes: content.length,
      sha256,
    },
  ],
});

const files = [{ kind: "reports", format: "parquet" }];

/** A service that sends so many bytes of the file before the connection breaks. */
function service(list, most = Infinity, { ranges = true, altered = false } = {}) {
  const asked = [];
  const fetch = async (url, { headers }) => {
    if (url.pathname === "/api/v1/bulk") {
      return Response.json({ data: list });
    }
    assert.equal(url.href, "https://service.example/api/v1/bulk/20261119T020003Z-7/reports.parquet");
    asked.push(headers.Range);
    const start = ranges ? Number(/\d+/.exec(headers.Range ?? "0")[0]) : 0;
    const bytes = Buffer.from(content.subarray(start));
    if (altered) {
      bytes[3] ^= 1;
    }
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.subarray(0, most));
        if (bytes.length > most) {
          setTimeout(() => controller.error(new TypeError("terminated")));
        } else {
          controller.close();
        }
      },
    });
    return new Response(body, { status: ranges && start > 0 ? 206 : 200 });
  };
  return { client: new Client("https://service.example", { fetch, longestWait: 1 }), asked };
}

async function inDirectory(run) {
  const directory = await mkdtemp(join(tmpdir(), "pregon-files-"));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("a download is continued after breaks", () =>
  inDirectory(async (directory) => {
    const { client, asked } = service([snapshot()], 20_000);
    const copy = await download(client, join(directory, "new"), { files });
    assert.deepEqual(await readFile(copy.paths[0]), content);
    assert.equal(copy.cursor, "e-7");
    assert.deepEqual(asked, [undefined, "bytes=20000-", "bytes=40000-"]);
    assert.deepEqual(await readdir(join(directory, "new")), ["reports.parquet"]);
    await download(client, join(directory, "new"), { files });
    assert.equal(asked.length, 3, "a file that is there is downloaded again");
  }));

test("a download is continued by the next call", () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, `reports.parquet.${snapshot().files[0].sha256}.part`), content.subarray(0, 30_000));
    const { client, asked } = service([snapshot()]);
    const { paths } = await download(client, directory, { files });
    assert.deepEqual(await readFile(paths[0]), content);
    assert.deepEqual(asked, ["bytes=30000-"]);
  }));

test("a proxy that ignores ranges does no harm", () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, `reports.parquet.${snapshot().files[0].sha256}.part`), content.subarray(0, 30_000));
    const { client } = service([snapshot()], Infinity, { ranges: false });
    const { paths } = await download(client, directory, { files });
    assert.deepEqual(await readFile(paths[0]), content);
  }));

test("an altered file is refused and removed", () =>
  inDirectory(async (directory) => {
    const { client } = service([snapshot()], Infinity, { altered: true });
    await assert.rejects(download(client, directory, { files }), { kind: "integrity" });
    assert.deepEqual(await readdir(directory), []);
    await assert.rejects(client.bulk.read(snapshot(), files[0]), { kind: "integrity" });
  }));

test("a file may be read into memory", async () => {
  const { client, asked } = service([snapshot()], 20_000);
  assert.deepEqual(Buffer.from(await client.bulk.read(await client.bulk.newest(), files[0])), content);
  assert.equal(asked.length, 3);
});

test("without a snapshot, and without the file, it says so", async () => {
  await assert.rejects(service([]).client.bulk.newest(), { kind: "not_found" });
  const { client } = service([snapshot()]);
  await assert.rejects(client.bulk.read(snapshot(), { kind: "issuers", format: "csv" }), { name: "PregonError", kind: "not_found" });
});

test("a list that is not one of files is refused", () =>
  inDirectory(async (directory) => {
    const { client, asked } = service([]);
    const [file] = snapshot().files;
    const sha256 = "../".repeat(21) + "a";
    for (const change of [
      { url: "" },
      { url: 5 },
      { url: "https://another.example/.." },
      { bytes: -1 },
      { bytes: 1.5 },
      { bytes: "5" },
      { sha256 },
      { sha256: null },
    ]) {
      const list = { ...snapshot(), files: [{ ...file, ...change }] };
      await assert.rejects(download(client, directory, { files, snapshot: list }), { name: "PregonError", kind: "integrity" });
      await assert.rejects(client.bulk.read(list, files[0]), { name: "PregonError", kind: "integrity" });
    }
    for (const id of ["..", "../x", ""]) {
      const list = { ...snapshot(), id };
      await assert.rejects(download(client, directory, { files, snapshot: list }), { kind: "integrity" });
    }
    const large = { ...snapshot(), files: [{ ...file, bytes: 2 ** 50 }] };
    await assert.rejects(client.bulk.read(large, files[0]), { name: "PregonError", kind: "invalid" });
    assert.deepEqual(asked, []);
    const whole = (await readdir(directory)).filter((name) => !name.endsWith(".part"));
    assert.deepEqual(whole, []);
  }));
