import { concat } from "./bytes.js";
import { errorOfAnswer, PregonError } from "./error.js";
import { version } from "./version.js";
import { backoff, Deadline, sleep } from "./waiting.js";

/** How a client reaches the service. */
export interface ClientOptions {
  /**
   * A key (`pregon_live_…`) or token. A function is called before each request, so that it can
   * return a token that is still valid. It is sent to the address of the client only.
   */
  key?: string | (() => string | Promise<string>) | undefined;
  /** Sends the key to other machines without encryption too, in a network that you trust. */
  insecureHttp?: boolean | undefined;
  /** How often a request is repeated that failed for the moment: 4 times unless given. */
  retries?: number | undefined;
  /** For how many milliseconds an answer may send nothing: 30,000 unless given. */
  timeout?: number | undefined;
  /**
   * The longest Retry-After, in milliseconds, for which a call waits: 60,000 unless given. With a
   * longer one the call fails at once, and the error has `retryAfter`.
   */
  longestWait?: number | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The values of a query. Those that are undefined or null are left out. */
export type Query = object;

/** A request to the service. */
export interface Request {
  method?: string;
  path: string;
  query?: Query | undefined;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** In place of the timeout of the client, in milliseconds. */
  timeout?: number;
}

/** An answer whose body is still to be read; `deadline` ends it. */
export interface OpenAnswer {
  response: Response;
  deadline: Deadline;
}

/** The largest answer that is read into memory. */
const largestAnswer = 64 << 20;

const largestProblem = 1 << 20;

/** Sends requests, and repeats those that failed for the moment. */
export class Transport {
  readonly retries: number;
  readonly timeout: number;
  readonly longestWait: number;
  readonly #base: URL;
  readonly #key: ClientOptions["key"];
  readonly #fetch: typeof fetch;

  constructor(base: string | URL, options: ClientOptions) {
    this.#base = parseBase(base);
    if (options.key && !options.insecureHttp && !isPrivate(this.#base)) {
      throw new TypeError("a key is sent with https:// only, except to this machine; insecureHttp allows it in a network that you trust");
    }
    this.#key = typeof options.key === "string" ? cleanKey(options.key) : options.key;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.retries = atLeast("retries", options.retries ?? 4, 0);
    this.timeout = atLeast("timeout", options.timeout ?? 30_000, 1);
    this.longestWait = atLeast("longestWait", options.longestWait ?? 60_000, 0);
  }

  /** Returns the JSON of an answer. */
  json<T>(request: Request): Promise<T> {
    return this.send(request, async (answer) => {
      const text = await readText(answer, largestAnswer);
      return (text === "" ? undefined : parseJson(request, text)) as T;
    });
  }

  /** Returns the text of an answer. */
  text(request: Request): Promise<string> {
    return this.send(request, (answer) => readText(answer, largestAnswer));
  }

  /**
   * Sends a request and reads its answer. Both are repeated if they failed for the moment, so
   * that `read` may be called several times.
   */
  send<T>(request: Request, read: (answer: OpenAnswer) => Promise<T>): Promise<T> {
    return this.#repeat(request, () => this.#attempt(request, read));
  }

  /** Like `open`, but repeats a request that failed for the moment. */
  openRepeatedly(request: Request): Promise<OpenAnswer> {
    return this.#repeat(request, () => this.open(request));
  }

  async #repeat<T>(request: Request, attempt: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        const wait = this.#waitAfter(error, request, failures);
        if (wait === undefined) {
          throw error;
        }
        await sleep(wait, request.signal);
      }
    }
  }

  async #attempt<T>(request: Request, read: (answer: OpenAnswer) => Promise<T>): Promise<T> {
    const answer = await this.open(request);
    try {
      return await read(answer);
    } catch (error) {
      throw this.failure(request, error);
    } finally {
      answer.deadline.end();
    }
  }

  /**
   * Sends a request once and returns its answer, the body of which is still to be read. An
   * answer that is no success is an error.
   */
  async open(request: Request): Promise<OpenAnswer> {
    request.signal?.throwIfAborted();
    const deadline = new Deadline(request.timeout ?? this.timeout, request.signal);
    try {
      const response = await this.#fetch(this.url(request.path, request.query), {
        method: request.method ?? "GET",
        headers: await this.#headers(request),
        body: request.body === undefined ? null : encodeBody(request.body),
        credentials: "omit",
        redirect: "manual",
        signal: deadline.signal,
      });
      deadline.extend();
      if (!response.ok) {
        const body = await readText({ response, deadline }, largestProblem);
        throw errorOfAnswer(describe(request), response, body);
      }
      return { response, deadline };
    } catch (error) {
      deadline.end();
      throw this.failure(request, error);
    }
  }

  /** Returns the error of a call: the reason if the caller aborted it, otherwise a PregonError. */
  failure(request: Request, error: unknown): unknown {
    if (request.signal?.aborted) {
      return request.signal.reason;
    }
    if (error instanceof PregonError) {
      return error;
    }
    return new PregonError("connection", `${describe(request)}: ${messageOf(error)}`, { cause: error });
  }

  // Returns for how long to wait before the next attempt; undefined if there must be none.
  #waitAfter(error: unknown, request: Request, failures: number): number | undefined {
    if (!(error instanceof PregonError) || failures > this.retries || !repeatable(request, error)) {
      return undefined;
    }
    if (error.retryAfter === undefined) {
      return backoff(failures, Math.min(8_000, this.longestWait));
    }
    const wait = error.retryAfter * 1000;
    return wait > this.longestWait ? undefined : wait;
  }

  /** Returns an address of the service. */
  url(path: string, query: Query = {}): URL {
    const url = new URL(this.#base);
    url.pathname += path.replace(/^\//, "");
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) {
        url.searchParams.set(name, String(value));
      }
    }
    return url;
  }

  async #headers(request: Request): Promise<Record<string, string>> {
    const headers: Record<string, string> = { Accept: "application/json", ...request.headers };
    const key = await this.#currentKey();
    if (key) {
      headers["Authorization"] = `Bearer ${key}`;
    }
    if (request.body !== undefined) {
      headers["Content-Type"] ??= typeof request.body === "string" ? "text/plain" : "application/json";
    }
    if (outsideBrowser) {
      headers["User-Agent"] = `pregon-typescript/${version}`;
    }
    return headers;
  }

  async #currentKey(): Promise<string | undefined> {
    if (typeof this.#key !== "function") {
      return this.#key;
    }
    const key = await this.#key();
    try {
      return cleanKey(key);
    } catch (error) {
      throw new PregonError("invalid", messageOf(error));
    }
  }
}

// Returns a key without the line feed at the end of its file. The message does not have the key,
// which that of `fetch` would have.
function cleanKey(key: string): string {
  const trimmed = String(key ?? "").trim();
  if (!/^[\x21-\x7e]*$/.test(trimmed)) {
    throw new TypeError("the key has a space or another character that no key has: copy it again");
  }
  return trimmed;
}

// A browser does not let a page choose this header.
const outsideBrowser = typeof process === "object" && process?.versions?.node !== undefined;

/** Parses the JSON of an answer. What is no JSON comes from another server, such as one that asks to sign in. */
export function parseJson(request: Request, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const beginning = JSON.stringify(text.slice(0, 60));
    const message = `${describe(request)}: the answer is not JSON but begins with ${beginning}: another server sent it`;
    throw new PregonError("integrity", message, { cause: error });
  }
}

function parseBase(base: string | URL): URL {
  let url: URL;
  try {
    url = new URL(base);
  } catch {
    throw new TypeError(`the address ${JSON.stringify(String(base))} must be one such as "https://pregon.example"`);
  }
  if (!/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new TypeError("the address must begin with https:// or http://, and have no user, query or fragment");
  }
  if (!url.pathname.endsWith("/")) {
    url.pathname += "/";
  }
  return url;
}

// Reports whether nobody on the way reads what is sent.
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function atLeast(name: string, value: number, least: number): number {
  if (!(value >= least)) {
    throw new TypeError(`${name} is ${value}; it must be a number from ${least} on`);
  }
  return value;
}

function encodeBody(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Returns the name of a request for messages. The query is left out, since it may have secrets. */
export function describe(request: Request): string {
  return `${request.method ?? "GET"} ${request.path}`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

const temporary = new Set([202, 429, 500, 502, 503, 504]);

// The methods of requests that may come twice: the second one changes nothing more.
const idempotent = new Set(["GET", "PUT", "DELETE"]);

// Reports whether a request may be repeated after an error.
function repeatable(request: Request, error: PregonError): boolean {
  if (!idempotent.has(request.method ?? "GET")) {
    return false;
  }
  return error.kind === "connection" || (error.status !== undefined && temporary.has(error.status));
}

async function readText(answer: OpenAnswer, most: number): Promise<string> {
  return new TextDecoder().decode(await readBytes(answer, most));
}

/** Reads a body of at most so many bytes. */
export async function readBytes(answer: OpenAnswer, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(answer)) {
    length += chunk.length;
    if (length > most) {
      throw new PregonError("integrity", `the answer has more than the ${most} bytes that it may have`);
    }
    chunks.push(chunk);
  }
  return concat(chunks);
}

/** Reads a body in pieces, each of which starts the time of the deadline again. */
export async function* readChunks({ response, deadline }: OpenAnswer): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) {
    return;
  }
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      deadline.extend();
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // a connection that failed cannot be cancelled
  }
}

