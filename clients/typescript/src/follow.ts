import { PregonError } from "./error.js";
import { type Message, Parser } from "./sse.js";
import { readChunks, type Request, type Transport } from "./transport.js";
import type { CallOptions, ChangeList, Event, Parameters } from "./types.js";
import { backoff, sleep } from "./waiting.js";

/**
 * Says that the log is not the one that the caller has followed: a backup of the service was
 * restored. The events after it are those of the present log. What happened after `time` may
 * come again, under other cursors; nothing is missing.
 */
export interface Reset {
  event: "reset";
  /** What happened. */
  reason: string;
  /** The cursor after which the events continue. */
  cursor: string;
  /** When the change at `cursor` occurred: what is older is the same in both logs. Null if it is not known. */
  time: string | null;
}

/** What `client.stream` reads. */
export type StreamParameters = Omit<Parameters<"streamEvents">, "after" | "last_event_id" | "ticket"> & {
  /** The cursor after which to begin; "0" for everything. Without it, the next change is the first. */
  after?: string | undefined;
};

/** What `client.changes` reads. */
export type ChangesParameters = Omit<Parameters<"getChanges">, "after" | "wait"> & {
  /** The cursor after which to begin; "0", the beginning of everything, unless given. */
  after?: string | undefined;
  /** For how many seconds the service may wait for the first change, if there is none yet: 25 at most. */
  wait?: number | undefined;
  /** Never ends, but waits for further changes. */
  follow?: boolean | undefined;
};

/** The longest time between two attempts to open a stream, in milliseconds. */
const longestPause = 30_000;

/** The longest time that a stream may ask for before it is opened again, in milliseconds. */
const longestRetry = 60_000;

/** The longest time that the service waits for a change, in seconds. */
const longestPoll = 25;

/** A stream without a sign of life for so many milliseconds is broken: a heartbeat comes every 15 seconds. */
const silence = 45_000;

/**
 * Returns events as they happen, without an end. After any break it continues with the last
 * cursor, so that no event is missing or comes twice.
 */
export async function* stream(
  transport: Transport,
  parameters: StreamParameters,
  options: CallOptions,
): AsyncGenerator<Event | Reset, void, undefined> {
  const { after, ...filter } = parameters;
  const place = new Place(after);
  const attempts = new Attempts(transport, options.signal);
  for (;;) {
    const request: Request = {
      path: "/api/v1/stream",
      query: { ...filter, after: place.cursor },
      headers: { Accept: "text/event-stream" },
      signal: options.signal,
      timeout: silence,
    };
    let retry: number | undefined;
    place.connect();
    try {
      const answer = await transport.open(request);
      const parser = new Parser();
      try {
        checkStream(answer.response);
        for await (const chunk of readChunks(answer)) {
          for (const message of parser.push(chunk)) {
            yield* place.read(message);
            if (message.event === "hello" || attempts.opened) {
              attempts.succeeded();
            }
          }
        }
        throw new PregonError("connection", "the stream ended");
      } finally {
        retry = parser.retry;
        answer.deadline.end();
      }
    } catch (error) {
      await attempts.failed(transport.failure(request, error), retry);
    }
  }
}

function checkStream({ headers }: Response): void {
  const type = headers.get("Content-Type") ?? "";
  if (!type.startsWith("text/event-stream")) {
    throw new PregonError("integrity", `the stream is not one of events but ${JSON.stringify(type)}: another server sent it`);
  }
}

/** The cursor of a reader, and what it has read before. */
class Place {
  cursor: string | undefined;
  #begun = false;

  constructor(cursor: string | undefined) {
    this.cursor = cursor;
  }

  /** Prepares for the events of another connection. */
  connect(): void {
    this.#begun = false;
  }

  /** Returns what the caller must know of an event, if anything, and advances the cursor. */
  *read(message: Message): Generator<Event | Reset> {
    if (message.event === "hello") {
      yield* this.#begin(parseObject(message.data));
      return;
    }
    if (!this.#advances(message.id)) {
      return; // it was sent twice
    }
    const change = changeOf(message);
    this.cursor = message.id;
    if (change) {
      yield change;
    }
  }

  // Reads the first event of a stream, which has the place where it starts.
  *#begin(hello: Record<string, unknown> | undefined): Generator<Reset> {
    if (this.#begun) {
      return; // it was sent twice
    }
    const cursor = hello?.["cursor"];
    if (hello === undefined || typeof cursor !== "string" || !splitCursor(cursor)) {
      throw new PregonError("integrity", "the first event of the stream is not a hello of Pregón: another server sent it");
    }
    this.#begun = true;
    this.cursor = cursor;
    const reset = hello["reset"] as { reason?: string; time?: string | null } | null | undefined;
    if (reset) {
      yield resetOf(cursor, reset.reason, reset.time);
    } else if (hello["reason"]) {
      yield resetOf(cursor, String(hello["reason"]), null); // the cursor is not one of this log
    }
  }

  #advances(id: string): boolean {
    const [before, after] = [splitCursor(this.cursor), splitCursor(id)];
    return after !== undefined && (before?.epoch !== after.epoch || after.seq > before.seq);
  }
}

function resetOf(cursor: string, reason: string | undefined, time: string | null | undefined): Reset {
  return {
    event: "reset",
    reason: reason ?? "the log is another one",
    cursor,
    time: time ?? null,
  };
}

function splitCursor(cursor: string | undefined): { epoch: string; seq: number } | undefined {
  const match = /^([a-z0-9]+)-(\d+)$/.exec(cursor ?? "");
  return match ? { epoch: match[1]!, seq: Number(match[2]) } : undefined;
}

/** The events of changes that this version knows: all that the OpenAPI document has. */
const known: Record<Event["event"], true> = {
  "report.published": true,
  "report.updated": true,
  "report.corrected": true,
  "report.backfilled": true,
  "issuer.updated": true,
  "position.published": true,
  "position.updated": true,
  "position.withdrawn": true,
  "position.backfilled": true,
};

// Returns the change of an event, or undefined if it is one of a later version that is none.
function changeOf(message: Message): Event | undefined {
  if (!message.event.includes(".")) {
    return undefined;
  }
  const data = parseObject(message.data);
  if (data && data["event"] === message.event && typeof data["cursor"] === "string") {
    return data as unknown as Event;
  }
  if (Object.hasOwn(known, message.event)) {
    throw new PregonError("integrity", `the event ${message.id} of the stream is not a change`);
  }
  return undefined;
}

// Returns a JSON object, or undefined if the text is none.
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Decides whether and when a connection that ended is opened again. */
class Attempts {
  readonly #transport: Transport;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  /** Whether there was an answer, so that the address and the key are right. */
  opened = false;

  constructor(transport: Transport, signal: AbortSignal | undefined) {
    this.#transport = transport;
    this.#signal = signal;
  }

  succeeded(): void {
    this.#failures = 0;
    this.opened = true;
  }

  /**
   * Waits after an error, or throws it if another attempt would be of no use. `retry` is the time
   * that the stream asked for.
   */
  async failed(error: unknown, retry = 0): Promise<void> {
    if (!(error instanceof PregonError) || !passes(error)) {
      throw error;
    }
    this.#failures++;
    const advised = (error.retryAfter ?? 0) * 1000;
    const { retries, longestWait } = this.#transport;
    if (!this.opened && (this.#failures > retries || advised > longestWait)) {
      throw error;
    }
    const asked = Math.min(retry, longestRetry) * (1 + Math.random() / 2); // not all clients at once
    const wait = Math.max(backoff(this.#failures, longestPause), asked, advised);
    await sleep(Math.min(wait, longestWait), this.#signal);
  }
}

// Reports whether an error passes by itself.
function passes(error: PregonError): boolean {
  return error.kind === "connection" || error.kind === "unavailable" || error.kind === "rate_limited";
}

/**
 * Returns the changes after a cursor, up to the newest one. With `follow` it has no end: it waits
 * for further changes.
 */
export async function* changes(
  transport: Transport,
  parameters: ChangesParameters,
  options: CallOptions,
): AsyncGenerator<Event | Reset, void, undefined> {
  const { after, limit, wait, follow, ...filter } = parameters;
  const seconds = follow ? longestPoll : wait;
  const attempts = new Attempts(transport, options.signal);
  let cursor = after ?? "0";
  for (;;) {
    const request: Request = {
      path: "/api/v1/changes",
      query: { ...filter, after: cursor, limit: limit ?? 1000, wait: seconds },
      signal: options.signal,
      timeout: transport.timeout + (seconds ?? 0) * 1000,
    };
    let page: ChangeList;
    try {
      page = await transport.json<ChangeList>(request);
      attempts.succeeded();
    } catch (error) {
      if (!follow || !attempts.opened) {
        throw error;
      }
      await attempts.failed(error);
      continue;
    }
    checkPage(page);
    if (page.reset) {
      yield resetOf(page.reset.after, page.reset.reason, page.reset.time);
    }
    yield* page.data;
    const moved = page.next !== cursor;
    cursor = page.next;
    if (!page.more && !follow) {
      return;
    }
    if (!moved) {
      await sleep(500 + 500 * Math.random(), options.signal); // the service answered without a wait, as when it stops
    }
  }
}

function checkPage(page: ChangeList | undefined): void {
  if (!Array.isArray(page?.data) || !splitCursor(page.next)) {
    throw new PregonError("integrity", "the answer is not a list of changes: another server sent it");
  }
}
