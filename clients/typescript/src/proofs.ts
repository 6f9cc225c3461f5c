// Verifies offline that a report or a position is in the log of a service: RFC 6962, and the
// checkpoints and signed notes of C2SP.
import { decodeBase64, encodeHex, encodeText, equal, sha256 } from "./bytes.js";
import { compareRecord } from "./record.js";
import { PregonError } from "./error.js";
import type { Position, Proof, ReportDetail } from "./types.js";

/** What a proof shows. */
export interface Verified {
  /** The name of the log: the address of the service, without its scheme, and `/log`. */
  origin: string;
  /** The number of changes in the log when the proof was made. */
  treeSize: number;
  /** The number of the change. */
  seq: number;
  /** What happened, such as `report.published`. */
  event: string;
  /** When the change was written. */
  time: string;
  /** The report or position as the log has it. */
  record: Record<string, unknown>;
  /** The fields that are as in the log. */
  checked: string[];
  /** The fields that are not in the log, or that this version does not know: nothing is shown about them. */
  unchecked: string[];
}

/** A leaf of the tree. */
interface Leaf {
  seq: number;
  event: string;
  time: string;
  changed: string[];
  record: Record<string, unknown>;
}

interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
}

const largestLeaf = 16 << 20;
const largestCheckpoint = 64 << 10;
const longestPath = 64;
const mostLeaves = 2 ** 48;

/**
 * Verifies that a log has exactly this report or position. It needs no network: the answer of
 * the service, the proof, and a verifier key that you trust are enough, also years later. Of
 * several keys, one a line, one must have signed.
 *
 * An error of the kind `signature` says that no such key signed the proof, one of the kind
 * `integrity` that the proof is not valid or that the report is not the one that was published.
 */
export async function verify(
  published: ReportDetail | Position,
  proof: Proof,
  keys: string,
): Promise<Verified> {
  if (typeof published !== "object" || published === null || typeof proof !== "object" || proof === null) {
    throw wrong("it and the report or position must be objects, as they are in JSON");
  }
  const checkpoint = await openCheckpoint(proof.checkpoint, keys);
  const leaf = await openLeaf(proof, checkpoint);
  const compared = await compareRecord(published as Record<string, unknown>, leaf, proof.salt ?? undefined);
  return {
    origin: checkpoint.origin,
    treeSize: checkpoint.size,
    seq: leaf.seq,
    event: leaf.event,
    time: leaf.time,
    record: leaf.record,
    ...compared,
  };
}

function wrong(text: string): PregonError {
  return new PregonError("integrity", `the proof is not valid: ${text}`);
}

function unsigned(text: string): PregonError {
  return new PregonError("signature", `the checkpoint of the proof is not verified: ${text}`);
}

async function openCheckpoint(note: string, keys: string): Promise<Checkpoint> {
  const end = typeof note === "string" ? note.lastIndexOf("\n\n") : -1;
  if (end < 0 || note.length > largestCheckpoint) {
    throw wrong("its checkpoint is not a signed note");
  }
  const text = note.slice(0, end + 1);
  const checkpoint = parseCheckpoint(text);
  const signatures = note.slice(end + 2).split("\n").slice(0, 100);
  for (const key of linesOf(keys)) {
    if (await hasSigned(await parseKey(key), checkpoint.origin, text, signatures)) {
      return checkpoint;
    }
  }
  throw unsigned(`none of the given keys signed it as ${checkpoint.origin}. Take the key from a place that you trust`);
}

function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, hash] = text.split("\n");
  const root = decodeBase64(hash ?? "");
  if (!origin || !/^(0|[1-9]\d{0,15})$/.test(size ?? "") || Number(size) > mostLeaves || root?.length !== 32) {
    throw wrong("its checkpoint must have the lines origin, size and root");
  }
  return {
    origin,
    size: Number(size),
    root,
  };
}

function linesOf(keys: string): string[] {
  const lines = keys.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) {
    throw new TypeError("a verifier key is needed, NAME+ID+KEY, such as the service states at /log/vkey");
  }
  return lines;
}

interface VerifierKey {
  name: string;
  id: Uint8Array;
  key: Uint8Array<ArrayBuffer>;
}

/** The byte of Ed25519 before a key. */
const ed25519 = 1;

async function parseKey(text: string): Promise<VerifierKey> {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? [];
  const bytes = decodeBase64(encoded ?? "");
  if (!name || bytes?.length !== 33 || bytes[0] !== ed25519) {
    throw new TypeError("a verifier key must be NAME+ID+KEY with an Ed25519 key, as in /log/vkey");
  }
  const hash = await sha256(encodeText(`${name}\n`), bytes);
  if (encodeHex(hash.subarray(0, 4)) !== id) {
    throw new TypeError(`the verifier key of ${name} has an id that is not its own: it was changed`);
  }
  return {
    name,
    id: hash.subarray(0, 4),
    key: bytes.slice(1),
  };
}

// Reports whether a key with the name of the log has signed a text. Signatures of other keys
// are ignored, so that keys can be replaced and witnesses can sign.
async function hasSigned(
  { name, id, key }: VerifierKey,
  origin: string,
  text: string,
  signatures: string[],
): Promise<boolean> {
  if (name !== origin) {
    return false;
  }
  const imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  for (const line of signatures) {
    const [, signer, encoded] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = decodeBase64(encoded ?? "");
    if (signer !== name || bytes?.length !== 68 || !equal(bytes.subarray(0, 4), id)) {
      continue;
    }
    return crypto.subtle.verify("Ed25519", imported, bytes.slice(4), encodeText(text));
  }
  return false;
}

async function openLeaf(proof: Proof, checkpoint: Checkpoint): Promise<Leaf> {
  const { seq, index, tree_size: size, hashes } = proof;
  if (size !== checkpoint.size) {
    throw wrong(`it is for ${size} changes, its checkpoint has ${checkpoint.size}`);
  }
  if (!Number.isSafeInteger(seq) || seq < 1 || index !== seq - 1 || index >= size) {
    throw wrong(`the change ${seq} at the index ${index} is not one of ${size}`);
  }
  if (!Array.isArray(hashes) || hashes.length > longestPath || String(proof.leaf).length > largestLeaf) {
    throw wrong("it is larger than any proof");
  }
  const bytes = decodeBase64(String(proof.leaf));
  if (!bytes) {
    throw wrong("its leaf is not base64");
  }
  const root = await rootOf(bytes, index, size, hashes);
  if (!root || !equal(root, checkpoint.root)) {
    throw wrong("the leaf and its hashes do not lead to the root that was signed");
  }
  const leaf = parseLeaf(bytes);
  if (leaf.seq !== seq) {
    throw wrong(`its leaf is that of the change ${leaf.seq}`);
  }
  return leaf;
}

const leafPrefix = Uint8Array.of(0);
const nodePrefix = Uint8Array.of(1);

// Returns the root to which a leaf and its audit path lead (RFC 9162, section 2.1.3.2), or
// undefined if the path has a wrong length.
async function rootOf(
  leaf: Uint8Array,
  index: number,
  size: number,
  hashes: readonly string[],
): Promise<Uint8Array | undefined> {
  let at = index;
  let last = size - 1;
  let root = await sha256(leafPrefix, leaf);
  for (const encoded of hashes) {
    const hash = decodeBase64(encoded);
    if (hash?.length !== 32 || last === 0) {
      return undefined;
    }
    if (at % 2 === 1 || at === last) {
      root = await sha256(nodePrefix, hash, root);
      while (at % 2 === 0 && at > 0) {
        at = at / 2;
        last = Math.floor(last / 2);
      }
    } else {
      root = await sha256(nodePrefix, root, hash);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : undefined;
}

function parseLeaf(bytes: Uint8Array): Leaf {
  let leaf: Leaf | null;
  try {
    leaf = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Leaf | null;
  } catch {
    throw wrong("its leaf is not JSON");
  }
  if (typeof leaf?.record !== "object" || leaf.record === null) {
    throw wrong("its leaf has no record");
  }
  return leaf;
}
