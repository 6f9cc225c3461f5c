import { concat, encodeHex, sha256 } from "./bytes.js";
import { PregonError } from "./error.js";
import { readChunks, type Transport } from "./transport.js";
import type { CallOptions, Schemas, Snapshot, SnapshotFile } from "./types.js";

/** A file of a snapshot, by what it has and its format. */
export type FileChoice = Pick<SnapshotFile, "kind" | "format">;

/** The largest file that is read into memory. */
const largestFile = 1 << 30;

/** Snapshots of everything: `client.bulk`. */
export class Bulk {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The snapshots that there are, the newest first. */
  async snapshots(options: CallOptions = {}): Promise<Snapshot[]> {
    const list = await this.#transport.json<Schemas["SnapshotList"]>({ path: "/api/v1/bulk", ...options });
    if (!Array.isArray(list?.data)) {
      throw new PregonError("integrity", "the answer is not a list of snapshots: another server sent it");
    }
    return list.data;
  }

  /** The newest snapshot; an error of the kind `not_found` if there is none yet. */
  async newest(options: CallOptions = {}): Promise<Snapshot> {
    const [newest] = await this.snapshots(options);
    if (!newest) {
      throw new PregonError("not_found", "there is no snapshot yet: the service makes one every night");
    }
    return newest;
  }

  /**
   * Returns a file of a snapshot, after its hash was verified. The whole file, of 1 GiB at most, is
   * in memory; with `download` of "pregon/files" it is written to a directory instead.
   */
  async read(snapshot: Snapshot, choice: FileChoice, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const file = findFile(snapshot, choice);
    if (file.bytes > largestFile) {
      throw new PregonError("invalid", `${fileName(file)} has ${file.bytes} bytes, and ${largestFile} fit into memory: use download`);
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.chunks(snapshot, file, 0, options)) {
      chunks.push(chunk);
    }
    const whole = concat(chunks);
    checkHash(file, encodeHex(await sha256(whole)));
    return whole;
  }

  /**
   * Returns the bytes of a file from an offset on, and continues after a break. It does not
   * verify the hash.
   */
  async *chunks(
    snapshot: Snapshot,
    file: SnapshotFile,
    offset: number,
    options: CallOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (!/^[\w-]+$/.test(snapshot.id)) {
      throw new PregonError("integrity", `${JSON.stringify(snapshot.id)} is not the id of a snapshot`);
    }
    const path = `/api/v1/bulk/${snapshot.id}/${fileName(file)}`;
    const request = { path, headers: {}, ...options };
    let at = offset;
    let failures = 0;
    while (at < file.bytes) {
      const answer = await this.#transport.openRepeatedly({ ...request, headers: rangeFrom(at) });
      let skip = answer.response.status === 206 ? 0 : at; // a proxy may send the whole file
      try {
        for await (const chunk of readChunks(answer)) {
          const wanted = chunk.subarray(Math.min(skip, chunk.length));
          skip -= chunk.length - wanted.length;
          at += wanted.length;
          if (at > file.bytes) {
            throw new PregonError("integrity", `${fileName(file)} is longer than the ${file.bytes} bytes of the list`);
          }
          if (wanted.length > 0) {
            failures = 0;
            yield wanted;
          }
        }
        failures++;
        if (at < file.bytes && failures > this.#transport.retries) {
          throw new PregonError("connection", `${fileName(file)} ends after ${at} of ${file.bytes} bytes`);
        }
      } catch (error) {
        const failure = this.#transport.failure(request, error);
        failures++;
        if (!(failure instanceof PregonError) || failure.kind !== "connection" || failures > this.#transport.retries) {
          throw failure;
        }
      } finally {
        answer.deadline.end();
      }
    }
  }
}

function rangeFrom(offset: number): Record<string, string> {
  const headers = { Accept: "*/*" };
  return offset === 0 ? headers : { ...headers, Range: `bytes=${offset}-` };
}

/** Returns the file of a snapshot that has a kind and a format, after its size and hash were found to be such. */
export function findFile(snapshot: Snapshot, choice: FileChoice): SnapshotFile {
  const file = snapshot.files.find((file) => file.kind === choice.kind && file.format === choice.format);
  if (!file) {
    const names = snapshot.files.map((file) => `${file.kind} as ${file.format}`).join(", ");
    throw new PregonError("not_found", `the snapshot has no ${choice.kind} as ${choice.format}, it has ${names}`);
  }
  if (!Number.isSafeInteger(file.bytes) || file.bytes < 0 || !/^[0-9a-f]{64}$/.test(file.sha256)) {
    throw new PregonError("integrity", `the snapshot has no size or SHA-256 of ${choice.kind} as ${choice.format}`);
  }
  return file;
}

/** Returns the name of a file, which is the end of its address. */
export function fileName(file: SnapshotFile): string {
  const name = String(file.url).split("/").at(-1) ?? "";
  if (!/^[a-z]+(\.[a-z0-9]+)+$/.test(name)) {
    throw new PregonError("integrity", `the address of a file of the snapshot ends with ${JSON.stringify(name)}`);
  }
  return name;
}

/** Compares a hash with that of the list. */
export function checkHash(file: SnapshotFile, hash: string): void {
  if (hash !== file.sha256) {
    throw new PregonError(
      "integrity",
      `${fileName(file)} has the SHA-256 ${hash}, the list says ${file.sha256}: download it again`,
    );
  }
}
