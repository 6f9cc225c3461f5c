// Compares an answer of the service with the record that the log has of it.
import { decodeBase64, encodeHex, encodeText, sha256 } from "./bytes.js";
import { PregonError } from "./error.js";

type Json = Record<string, unknown>;

/** Returns the value of a field of an answer that follows from a record. */
type Expected = (record: Json) => unknown;

/** The fields of a kind of answers. All others are not compared. */
type Fields = Record<string, Expected>;

const text = (name: string): Expected => (record) => record[name] ?? null;
const texts = (name: string): Expected => (record) => record[name] ?? [];
const time = (name: string): Expected => (record) => new Time(record[name] as string | undefined);
const link = (name: string): Expected => (record) => new Link(record[name] as string | undefined);

/** A time, which an answer has in the zone of Madrid and a record in UTC. */
class Time {
  constructor(readonly text: string | undefined) {}

  equals(given: unknown): boolean {
    return this.text === undefined ? given === null : typeof given === "string" && sameInstant(given, this.text);
  }
}

function sameInstant(a: string, b: string): boolean {
  const instantOfA = instant(a);
  return instantOfA !== undefined && instantOfA === instant(b);
}

// Returns the milliseconds since 1970 of the second, and six digits of its fraction.
function instant(text: string): string | undefined {
  const [, second, fraction = "", zone] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const milliseconds = Date.parse(`${second}${zone}`);
  return Number.isNaN(milliseconds) ? undefined : `${milliseconds}.${fraction.slice(0, 6).padEnd(6, "0")}`;
}

/** A link. In records of the simulated market the host is not that of the service. */
class Link {
  static readonly #simulated = "https://regulator.example/";

  constructor(readonly text: string | undefined) {}

  equals(given: unknown): boolean {
    if (given === (this.text ?? null)) {
      return true;
    }
    if (typeof given !== "string" || typeof this.text !== "string" || !this.text.startsWith(Link.#simulated)) {
      return false;
    }
    const path = this.text.slice(Link.#simulated.length);
    return given.startsWith("http") && given.endsWith(`/simulator/${path}`);
  }
}

const report: Fields = {
  id: text("id"),
  type: text("type"),
  cnmv_registration_number: text("cnmv_registration_number"),
  company_name: text("company_name"),
  nif: text("nif"),
  title: text("title"),
  summary: text("summary"),
  published_at: time("published_at"),
  registered_at: time("published_at"),
  pdf_url: link("pdf_url"),
  source_url: link("source_url"),
  categories: (record) => categories(String(record["category"] ?? "")),
  corrected_by: text("corrected_by"),
  related: (record) => list(record["related"]).map(related),
  time_precision: (record) => precisions[String(record["time_from"])] ?? null,
  first_seen_at: time("first_seen_at"),
  available_at: time("available_at"),
  enriched_at: time("enriched_at"),
  text_ready_at: time("text_ready_at"),
  summary_ready_at: time("summary_ready_at"),
  facts_ready_at: time("facts_ready_at"),
  summary_method: text("summary_method"),
  summary_language: text("summary_language"),
  summary_en: text("summary_en"),
  evidence: (record) => list(record["evidence"]).map(sentence),
  evidence_en: (record) => list(record["evidence_en"]).map(sentence),
};

const precisions: Record<string, string> = {
  list: "minute",
  permalink: "second",
  feed: "second",
};

function categories(line: string): string[] {
  const names = ` ${line.split(/\s+/).join(" ")} `.split(" - ").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
}

function related(other: Json): Json {
  return {
    id: other["id"] ?? null,
    cnmv_registration_number: other["cnmv_registration_number"],
    published_at: new Time(other["published_at"] as string | undefined),
    text: other["text"] ?? null,
  };
}

function sentence(evidence: Json): Json {
  return {
    sentence: evidence["text"],
    page: evidence["page"],
    quote: evidence["quote"],
  };
}

const position: Fields = {
  id: text("id"),
  kind: text("kind"),
  issuer_name: text("issuer_name"),
  lei: text("lei"),
  isin: text("isin"),
  state: text("state"),
  current: (record) => record["state"] === "current",
  number: text("number"),
  date: text("date"),
  registered_on: text("registered_on"),
  percent: text("percent"),
  percent_total: text("percent"),
  percent_shares: text("percent_shares"),
  percent_direct: text("percent_direct"),
  percent_indirect: text("percent_indirect"),
  percent_instruments: text("percent_instruments"),
  relation: text("relation"),
  rectifies: texts("rectifies"),
  rectified_by: texts("rectified_by"),
  annulled_by: text("annulled_by"),
  aggregates: text("aggregates"),
  source_url: link("source_url"),
  document_url: link("document_url"),
  document_reason: text("document_reason"),
  first_seen_at: time("first_seen_at"),
  amount,
  trades: (record) => (record["document_status"] === "ready" ? list(record["trades"]).map(trade) : null),
};

// The amount of a notice is the sum of its trades, if they have one currency.
function amount(record: Json): unknown {
  const trades = list(record["trades"]);
  if (trades.length === 0 || new Set(trades.map(({ currency }) => currency)).size > 1) {
    return null;
  }
  const parts = trades.map(({ volume, price }) => multiply(parseDecimal(volume), parseDecimal(price)));
  if (!parts.every((part) => part !== undefined)) {
    throw new PregonError("integrity", "a trade of the record of the proof has no volume and price");
  }
  return new Amount(parts);
}

/** A decimal number: digits, of which the last `places` are a fraction. */
interface Decimal {
  digits: bigint;
  places: number;
}

function parseDecimal(text: unknown): Decimal | undefined {
  const [, whole, fraction = ""] = /^(\d{1,100})(?:\.(\d{1,100}))?$/.exec(typeof text === "string" ? text : "") ?? [];
  return whole === undefined ? undefined : { digits: BigInt(whole + fraction), places: fraction.length };
}

function multiply(a: Decimal | undefined, b: Decimal | undefined): Decimal | undefined {
  return a && b && { digits: a.digits * b.digits, places: a.places + b.places };
}

/** A sum of decimal numbers, however it is written. */
class Amount {
  constructor(readonly parts: Decimal[]) {}

  equals(given: unknown): boolean {
    const number = parseDecimal(given);
    if (!number) {
      return false;
    }
    const most = Math.max(number.places, ...this.parts.map(({ places }) => places));
    const scale = ({ digits, places }: Decimal) => digits * 10n ** BigInt(most - places);
    return this.parts.reduce((sum, part) => sum + scale(part), 0n) === scale(number);
  }
}

function trade(row: Json): Json {
  return {
    isin: null,
    instrument: null,
    venue: null,
    ...row,
  };
}

/** The fields that every answer with a report, or with a position, has. */
const required: Record<string, readonly string[]> = {
  report: [
    "id",
    "company_name",
    "ticker",
    "type",
    "title",
    "summary",
    "published_at",
    "cnmv_registration_number",
    "pdf_url",
  ],
  position: ["id", "kind", "state"],
};

/** Which fields are as in the log, and which are not in it. */
export interface Compared {
  checked: string[];
  unchecked: string[];
}

/**
 * Compares an answer with the record of a leaf. A field that differs is an error; one that the
 * log does not have, or that this version does not know, is in `unchecked`, such as
 * `document.reason` for one inside another.
 */
export async function compareRecord(
  given: Json,
  leaf: { seq: number; event: string; record: Json },
  salt: string | undefined,
): Promise<Compared> {
  const noun = String(leaf.event).split(".")[0];
  if (noun !== "report" && noun !== "position") {
    throw new PregonError("integrity", `the proof is one of ${leaf.event}, not of a report or position`);
  }
  if (given["id"] !== leaf.record["id"]) {
    throw new PregonError("integrity", `the proof is that of ${leaf.record["id"]}, not of ${given["id"]}`);
  }
  const fields = noun === "report" ? reportFields(given, leaf.record) : await positionFields(given, leaf.record, salt);
  const checked: string[] = [];
  const unchecked: string[] = [];
  const differing: string[] = [];
  for (const name of Object.keys(given).sort()) {
    const expected = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!expected) {
      unchecked.push(name);
      continue;
    }
    const compared = compare(given[name], expected(leaf.record), name);
    if (compared.same) {
      checked.push(name);
      unchecked.push(...new Set(compared.unknown));
    } else {
      differing.push(name);
    }
  }
  const missing = required[noun]!.filter((name) => !Object.hasOwn(given, name));
  differing.push(...missing.map((name) => `${name} (missing)`));
  if (differing.length > 0) {
    throw new PregonError(
      "integrity",
      `the ${noun} differs from the change ${leaf.seq} of the log in ${differing.join(", ")}. If it changed since, get it and its proof again`,
    );
  }
  return { checked, unchecked };
}

// A ticker may come from the directory. The rows and quotes of facts are in the log only as a hash,
// which this client does not compute: facts that have them are compared without them.
function reportFields(given: Json, record: Json): Fields {
  const fields = { ...report };
  if (record["ticker"] !== undefined) {
    fields["ticker"] = text("ticker");
  }
  fields["document"] = describeDocument;
  const facts = isObjects(given["facts"]) ? given["facts"] : [];
  const detailed = facts.some((fact) => "rows" in fact || "evidence" in fact);
  if (!detailed || !equal(facts.map(bare), describeFacts(record))) {
    fields["facts"] = (record) => new Exactly(describeFacts(record));
  }
  return fields;
}

function bare(fact: Json): Json {
  const { rows: _rows, evidence: _evidence, ...rest } = fact;
  return rest;
}

function describeFacts(record: Json): unknown {
  if (record["facts_rules"] === undefined) {
    return null;
  }
  return list(record["facts"]).map((fact) => ({ fields: {}, ...fact }));
}

function describeDocument(record: Json): Json {
  const document = isObject(record["document"]) ? record["document"] : {};
  if (document["status"] === undefined) {
    return { status: new OneOf(["none", "pending"]), ...noDocument };
  }
  if (isReadAgain(document, record)) {
    return { status: "pending", ...noDocument };
  }
  const ready = document["status"] === "ready";
  return {
    status: document["status"],
    reason: document["reason"] ?? null,
    sha256: document["sha256"] ?? null,
    type: document["type"] ?? null,
    bytes: ready ? (document["bytes"] ?? 0) : null,
    pages: ready ? (document["pages"] ?? 0) : null,
    method: document["method"] ?? null,
    language: document["language"] ?? null,
  };
}

// Reports whether the link of a report has changed since its document was read.
function isReadAgain(document: Json, record: Json): boolean {
  const done = document["status"] === "ready" || document["status"] === "failed";
  const link = record["pdf_url"] ?? "";
  return done && link !== "" && link !== document["link"];
}

/** A document that is to be read, but for the reason, which the log does not have. */
const noDocument = {
  sha256: null,
  type: null,
  bytes: null,
  pages: null,
  method: null,
  language: null,
};

// The log has a seal in place of a name that may be that of a natural person.
async function positionFields(given: Json, record: Json, salt: string | undefined): Promise<Fields> {
  const fields = { ...position };
  const name = given["holder"] ?? given["person"] ?? null;
  const sealed = record["holder_sealed"];
  if (typeof sealed === "string" && name !== null && !record["holder_erased"] && salt === undefined) {
    return fields; // without the salt nothing is known of the name
  }
  const known = typeof sealed === "string" && !record["holder_erased"] ? await opened(sealed, String(name), salt) : null;
  const holder = record["holder"] ?? known;
  const erased = record["holder_erased"] === true || (sealed !== undefined && holder === null);
  for (const field of ["holder", "person"]) {
    fields[field] = () => holder;
    fields[`${field}_erased`] = () => erased;
  }
  return fields;
}

// Returns the name if it is the one that was sealed.
async function opened(sealed: string, name: string, salt: string | undefined): Promise<string | null> {
  const bytes = decodeBase64(salt ?? "");
  if (!bytes) {
    throw new PregonError("integrity", "the salt of the proof is not base64");
  }
  return encodeHex(await sha256(bytes, encodeText(name))) === sealed ? name : null;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObjects(value: unknown): value is Json[] {
  return Array.isArray(value) && value.every(isObject);
}

// Returns a list of a record, which has none if it is empty.
function list(value: unknown): Json[] {
  if (value !== undefined && !isObjects(value)) {
    throw new PregonError("integrity", "the record of the proof has a list that is none of objects");
  }
  return value ?? [];
}

/** One of some values. */
class OneOf {
  constructor(readonly values: readonly unknown[]) {}

  equals(given: unknown): boolean {
    return this.values.includes(given);
  }
}

/** A value in which no further names may be. */
class Exactly {
  constructor(readonly value: unknown) {}
}

interface Comparison {
  same: boolean;
  /** The names inside the value that are not among those expected. */
  unknown: string[];
}

// Compares a value of an answer, which is at a path such as `document.reason`, with the one expected.
function compare(given: unknown, expected: unknown, path: string): Comparison {
  if (expected instanceof Time || expected instanceof Link || expected instanceof Amount || expected instanceof OneOf) {
    return { same: expected.equals(given), unknown: [] };
  }
  if (expected instanceof Exactly) {
    return { same: equal(given, expected.value), unknown: [] };
  }
  if (Array.isArray(expected)) {
    const sameLength = Array.isArray(given) && given.length === expected.length;
    return sameLength ? all(expected.map((value, i) => compare(given[i], value, path))) : different;
  }
  if (!isObject(expected)) {
    return { same: given === expected, unknown: [] };
  }
  if (!isObject(given) || !Object.keys(expected).every((name) => Object.hasOwn(given, name))) {
    return different;
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(expected, name));
  const inner = all(Object.keys(expected).map((name) => compare(given[name], expected[name], `${path}.${name}`)));
  return {
    same: inner.same,
    unknown: [...unknown.map((name) => `${path}.${name}`), ...inner.unknown],
  };
}

const different: Comparison = { same: false, unknown: [] };

function all(comparisons: Comparison[]): Comparison {
  return {
    same: comparisons.every(({ same }) => same),
    unknown: comparisons.flatMap(({ unknown }) => unknown),
  };
}

// Reports whether two values are equal, with exactly the same names.
function equal(given: unknown, expected: unknown): boolean {
  const { same, unknown } = compare(given, expected, "");
  return same && unknown.length === 0;
}
