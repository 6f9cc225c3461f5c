// Downloads snapshots to files, in Node, Deno and Bun. It is apart from the rest, which also
// runs in browsers.
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { checkHash, fileName, type FileChoice, findFile } from "./bulk.js";
import type { Client } from "./client.js";
import type { CallOptions, Snapshot, SnapshotFile } from "./types.js";

/** What is downloaded. */
export interface DownloadOptions extends CallOptions {
  /** The files; reports, issuers and positions as Parquet unless given. */
  files?: readonly FileChoice[] | undefined;
  /** The snapshot: the newest unless given. */
  snapshot?: Snapshot | undefined;
}

/** A snapshot on disk. */
export interface Download {
  snapshot: Snapshot;
  /** The paths of the files, in the order in which they were asked for. */
  paths: string[];
  /** The `after` with which `client.changes` continues: with these changes the copy is complete. */
  cursor: string;
}

const everything: readonly FileChoice[] = [
  { kind: "reports", format: "parquet" },
  { kind: "issuers", format: "parquet" },
  { kind: "positions", format: "parquet" },
];

/**
 * Downloads the files of a snapshot into a directory, which it creates. A file gets its name
 * after its hash was verified. A download that was interrupted is continued by the next call.
 */
export async function download(client: Client, directory: string, options: DownloadOptions = {}): Promise<Download> {
  const snapshot = options.snapshot ?? (await client.bulk.newest(options));
  const chosen = (options.files ?? everything).map((choice) => findFile(snapshot, choice));
  await mkdir(directory, { recursive: true });
  const paths: string[] = [];
  for (const file of chosen) {
    paths.push(await downloadFile(client, directory, snapshot, file, options));
  }
  return {
    snapshot,
    paths,
    cursor: snapshot.cursor,
  };
}

async function downloadFile(
  client: Client,
  directory: string,
  snapshot: Snapshot,
  file: SnapshotFile,
  options: DownloadOptions,
): Promise<string> {
  const path = join(directory, fileName(file));
  if ((await sizeOf(path)) === file.bytes && (await hashOf(path)).digest("hex") === file.sha256) {
    return path; // it was downloaded before
  }
  const part = `${path}.${file.sha256}.part`;
  const hash = await append(client, part, snapshot, file, options);
  try {
    checkHash(file, hash.digest("hex"));
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await rename(part, path);
  return path;
}

// Appends to a file what it does not have yet, and returns the hash of all of it.
async function append(
  client: Client,
  part: string,
  snapshot: Snapshot,
  file: SnapshotFile,
  { signal }: DownloadOptions,
): Promise<Hash> {
  if (((await sizeOf(part)) ?? 0) > file.bytes) {
    await rm(part);
  }
  const output = await open(part, "a");
  try {
    const hash = await hashOf(part);
    const { size } = await output.stat();
    for await (const chunk of client.bulk.chunks(snapshot, file, size, { signal })) {
      hash.update(chunk);
      await output.writeFile(chunk);
    }
    await output.sync();
    return hash;
  } finally {
    await output.close();
  }
}

async function hashOf(path: string): Promise<Hash> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
  }
  return hash;
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
