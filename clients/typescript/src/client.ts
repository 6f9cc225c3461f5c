import { Bulk } from "./bulk.js";
import { encodeHex, encodeText, sha256 } from "./bytes.js";
import { PregonError, retryAfter } from "./error.js";
import {
  changes,
  type ChangesParameters,
  type Reset,
  stream,
  type StreamParameters,
} from "./follow.js";
import { List, type ListSource } from "./list.js";
import type { Answer, CallsWith, Method, Path } from "./operation.js";
import { type ClientOptions, parseJson, readBytes, type Request, Transport } from "./transport.js";
import type {
  CalendarEntry,
  CalendarList,
  CallOptions,
  ChosenReport,
  ChosenReportList,
  Count,
  CountList,
  DocumentText,
  Event,
  FactList,
  FactRow,
  History,
  Issuer,
  IssuerDetail,
  IssuerList,
  Ownership,
  Parameters,
  Position,
  Proof,
  Report,
  ReportDetail,
  ReportList,
  Schemas,
  StreamTicket,
  StreamTicketInput,
  Watchlist,
  WatchlistImport,
  WatchlistInput,
} from "./types.js";

/**
 * A client of one service.
 *
 *     const client = new Client("https://pregon.example", { key: process.env.PREGON_KEY });
 */
export class Client {
  readonly reports: Reports;
  readonly facts: Facts;
  readonly calendar: Calendar;
  readonly positions: Positions;
  readonly issuers: Issuers;
  readonly watchlists: Watchlists;
  readonly bulk: Bulk;
  readonly #transport: Transport;

  constructor(address: string | URL, options: ClientOptions = {}) {
    const transport = new Transport(address, options);
    this.#transport = transport;
    this.reports = new Reports(transport);
    this.facts = new Facts(transport);
    this.calendar = new Calendar(transport);
    this.positions = new Positions(transport);
    this.issuers = new Issuers(transport);
    this.watchlists = new Watchlists(transport);
    this.bulk = new Bulk(transport);
  }

  /**
   * Events as they happen. The iteration has no end: leave it with `break`, or with a signal. After
   * any break of the connection it continues where it was; no event is missing or comes twice.
   */
  stream(
    parameters: StreamParameters = {},
    options: CallOptions = {},
  ): AsyncGenerator<Event | Reset, void, undefined> {
    return stream(this.#transport, parameters, options);
  }

  /** Changes after a cursor, up to the newest one; with `follow` without an end. */
  changes(
    parameters: ChangesParameters = {},
    options: CallOptions = {},
  ): AsyncGenerator<Event | Reset, void, undefined> {
    return changes(this.#transport, parameters, options);
  }

  /**
   * A ticket with which a page in a browser opens a stream with EventSource. Ask for it where the
   * key is kept, and give the page only `url`, which is whole here.
   */
  async ticket(selection: StreamTicketInput = {}, options: CallOptions = {}): Promise<StreamTicket> {
    const ticket = await this.#transport.json<StreamTicket>({
      method: "POST",
      path: "/api/v1/stream/tickets",
      body: selection,
      ...options,
    });
    const url = this.#transport.url("/api/v1/stream", { ticket: ticket.ticket });
    return { ...ticket, url: url.href };
  }

  /** The whole text of a report's document. While the service still reads it, the call waits. */
  document(id: string, options: CallOptions = {}): Promise<DocumentText> {
    return readDocument(this.#transport, id, options);
  }

  /** The verifier key of the log, as the service states it. Keep one that you got from a place that you trust. */
  async verifierKey(options: CallOptions = {}): Promise<string> {
    const text = await this.#transport.text({
      path: "/log/vkey",
      headers: { Accept: "text/plain" },
      ...options,
    });
    return text.trim();
  }

  /** Any other operation of the API that answers with JSON, by its method and path in the OpenAPI document. */
  request<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    call: CallsWith<M, P> & CallOptions,
  ): Promise<Answer<M, P>> {
    const { path: values = {}, query, body, signal } = call as LooseCall;
    return this.#transport.json({
      method: method.toUpperCase(),
      path: fillPath(path as string, values),
      query,
      body,
      signal,
    });
  }
}

interface LooseCall extends CallOptions {
  path?: Record<string, unknown>;
  query?: object;
  body?: unknown;
}

function fillPath(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encode(String(values[name] ?? "")));
}

/** Returns a part of a path. */
function encode(part: string): string {
  if (part === "" || part === "." || part === "..") {
    throw new TypeError(`${JSON.stringify(part)} cannot be a part of an address; an id such as "oir-40374" is expected`);
  }
  return encodeURIComponent(part);
}

interface PageParameters {
  page?: number;
  limit?: number;
}

// Returns the list at a path. Pages are as large as the service allows, unless given.
function listOf<Item, P extends ListSourcePage<Item>>(
  transport: Transport,
  request: Request,
  parameters: PageParameters,
  identify?: ListSource<Item, P>["identify"],
  count?: ListSource<Item, P>["count"],
): List<Item, P> {
  const source: ListSource<Item, P> = {
    start: parameters.page ?? 1,
    fetch: (page) => transport.json<P>({ ...request, query: { limit: 50, ...parameters, page } }),
    ...(identify && { identify }),
    ...(count && { count }),
  };
  return new List(source);
}

type ListSourcePage<Item> = { data: Item[]; total?: number; page?: number; limit?: number };

/** Reports: `client.reports`. */
export class Reports {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The reports that pass every filter, the newest first. */
  search(
    parameters?: Parameters<"getReports"> & { fields?: undefined },
    options?: CallOptions,
  ): List<Report, ReportList>;
  /** The same with only the fields that `fields` names. */
  search(parameters: Parameters<"getReports">, options?: CallOptions): List<ChosenReport, ChosenReportList>;
  search(
    parameters: Parameters<"getReports"> = {},
    options: CallOptions = {},
  ): List<Report, ReportList> | List<ChosenReport, ChosenReportList> {
    const request = { path: "/api/v1/reports", ...options };
    return listOf<ChosenReport, ChosenReportList>(this.#transport, request, parameters, (report) => report.id);
  }

  /** The reports with the words of `search` in their document, and the passages. It needs a key. */
  searchDocuments(
    parameters: Parameters<"searchDocuments">,
    options: CallOptions = {},
  ): List<Schemas["DocumentHitList"]["data"][number], Schemas["DocumentHitList"]> {
    const request = { path: "/api/v1/search/documents", ...options };
    return listOf(this.#transport, request, parameters, (hit) => hit.report.id);
  }

  /** How many reports pass the filters, by one of their properties. */
  counts(parameters: Parameters<"getReportCounts">, options: CallOptions = {}): List<Count, CountList> {
    const request = { path: "/api/v1/reports/counts", ...options };
    return listOf<Count, CountList>(this.#transport, request, parameters, ({ value, name }) => JSON.stringify([value, name]), (page) => page.values);
  }

  /** One report in full. */
  get(id: string, parameters: Parameters<"getReport"> = {}, options: CallOptions = {}): Promise<ReportDetail> {
    return this.#transport.json({ path: `/api/v1/reports/${encode(id)}`, query: parameters, ...options });
  }

  /** What changed in a report, and when: the newest versions. */
  history(id: string, parameters: Parameters<"getReportHistory"> = {}, options: CallOptions = {}): Promise<History> {
    return this.#transport.json({ path: `/api/v1/reports/${encode(id)}/history`, query: parameters, ...options });
  }

  /** The proof that a report is in the log, for `proofs.verify`. */
  proof(id: string, options: CallOptions = {}): Promise<Proof> {
    return this.#transport.json({ path: `/api/v1/reports/${encode(id)}/proof`, ...options });
  }
}

/** What documents state: `client.facts`. */
export class Facts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The facts that pass every filter, those of the newest reports first. */
  list(parameters: Parameters<"getFacts"> = {}, options: CallOptions = {}): List<FactRow, FactList> {
    const request = { path: "/api/v1/facts", ...options };
    return listOf<FactRow, FactList>(this.#transport, request, parameters, identifyFact);
  }
}

// A fact has no id. Facts of one report may differ only in their quotes.
async function identifyFact(fact: FactRow): Promise<string> {
  const text = JSON.stringify(fact);
  const pageWithoutEncryption = crypto.subtle === undefined; // browsers do not give it Web Crypto
  return pageWithoutEncryption ? text : encodeHex(await sha256(encodeText(text)));
}

/** The dates in facts: `client.calendar`. */
export class Calendar {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The entries from today on, or between the days given. */
  list(parameters: Parameters<"getCalendar"> = {}, options: CallOptions = {}): List<CalendarEntry, CalendarList> {
    const request = { path: "/api/v1/calendar", ...options };
    const pages = { limit: 500, ...parameters };
    return listOf<CalendarEntry, CalendarList>(this.#transport, request, pages, (entry) => entry.uid);
  }
}

/** The registers of positions, with the operation and the answer of each. */
interface Registers {
  short: { operation: "getShorts"; list: Schemas["ShortList"] };
  holding: { operation: "getHoldings"; list: Schemas["HoldingList"] };
  own_shares: { operation: "getOwnShares"; list: Schemas["HoldingList"] };
  dealing: { operation: "getDealings"; list: Schemas["DealingList"] };
}

const registerPaths: Record<keyof Registers, string> = {
  short: "/api/v1/shorts",
  holding: "/api/v1/holdings",
  own_shares: "/api/v1/own-shares",
  dealing: "/api/v1/dealings",
};

/** The register of a kind of positions. */
export type PositionKind = keyof Registers;

/** Who owns, trades and bets against issuers: `client.positions`. */
export class Positions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The entries of a register: `short`, `holding`, `own_shares` or `dealing`. */
  list<Kind extends PositionKind>(
    kind: Kind,
    parameters: Parameters<Registers[Kind]["operation"]> = {} as Parameters<Registers[Kind]["operation"]>,
    options: CallOptions = {},
  ): List<Registers[Kind]["list"]["data"][number], Registers[Kind]["list"]> {
    const path = registerPaths[kind];
    if (path === undefined) {
      throw new TypeError(`there is no register ${JSON.stringify(kind)}; it must be one of ${Object.keys(registerPaths).join(", ")}`);
    }
    const request = { path, ...options };
    return listOf<{ id: string }, ListSourcePage<{ id: string }>>(
      this.#transport,
      request,
      parameters,
      (position) => position.id,
    ) as unknown as List<Registers[Kind]["list"]["data"][number], Registers[Kind]["list"]>;
  }

  /** The sums of the net short positions, by issuer. */
  shortTotals(
    parameters: Parameters<"getShortTotals"> = {},
    options: CallOptions = {},
  ): List<Schemas["ShortTotalRow"], Schemas["ShortTotalList"]> {
    return listOf<Schemas["ShortTotalRow"], Schemas["ShortTotalList"]>(
      this.#transport,
      { path: "/api/v1/shorts/totals", ...options },
      parameters,
      (row) => row.issuer_id ?? row.isin ?? undefined,
    );
  }

  /** How the sum of the net short positions in one issuer changed. */
  shortSeries(parameters: Parameters<"getShortSeries">, options: CallOptions = {}): Promise<Schemas["ShortSeries"]> {
    return this.#transport.json({ path: "/api/v1/shorts/series", query: parameters, ...options });
  }

  /** One position. */
  get(id: string, parameters: Parameters<"getPosition"> = {}, options: CallOptions = {}): Promise<Position> {
    return this.#transport.json({ path: `/api/v1/positions/${encode(id)}`, query: parameters, ...options });
  }

  /** What changed in a position, and when: the newest versions. */
  history(id: string, parameters: Parameters<"getPositionHistory"> = {}, options: CallOptions = {}): Promise<History> {
    return this.#transport.json({ path: `/api/v1/positions/${encode(id)}/history`, query: parameters, ...options });
  }

  /** The proof that a position is in the log, for `proofs.verify`. */
  proof(id: string, options: CallOptions = {}): Promise<Proof> {
    return this.#transport.json({ path: `/api/v1/positions/${encode(id)}/proof`, ...options });
  }
}

/** The directory: `client.issuers`. */
export class Issuers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The issuers that a name, ticker or identifier finds, the best first; 50 at most. */
  search(parameters: Parameters<"getIssuers"> = {}, options: CallOptions = {}): List<Issuer, IssuerList> {
    const fetch = () =>
      this.#transport.json<IssuerList>({
        path: "/api/v1/issuers",
        query: { limit: 50, ...parameters },
        ...options,
      });
    return new List<Issuer, IssuerList>({ start: 1, fetch });
  }

  /** One issuer in full, by tax number, ISIN, LEI or register number. */
  get(id: string, parameters: Parameters<"getIssuer"> = {}, options: CallOptions = {}): Promise<IssuerDetail> {
    return this.#transport.json({ path: `/api/v1/issuers/${encode(id)}`, query: parameters, ...options });
  }

  /** What changed in an issuer, and when: the newest versions. */
  history(id: string, parameters: Parameters<"getIssuerHistory"> = {}, options: CallOptions = {}): Promise<History> {
    return this.#transport.json({ path: `/api/v1/issuers/${encode(id)}/history`, query: parameters, ...options });
  }

  /** Who holds, trades in and bets against an issuer. */
  ownership(id: string, parameters: Parameters<"getOwnership"> = {}, options: CallOptions = {}): Promise<Ownership> {
    return this.#transport.json({ path: `/api/v1/issuers/${encode(id)}/ownership`, query: parameters, ...options });
  }
}

/** Lists of issuers and saved searches: `client.watchlists`. They need a key. */
export class Watchlists {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The lists of the account, in their order. */
  async list(options: CallOptions = {}): Promise<Watchlist[]> {
    const answer = await this.#send<Schemas["WatchlistList"]>("GET", "", options);
    return answer.data;
  }

  get(id: string, options: CallOptions = {}): Promise<Watchlist> {
    return this.#send("GET", `/${encode(id)}`, options);
  }

  create(input: WatchlistInput, options: CallOptions = {}): Promise<Watchlist> {
    return this.#send("POST", "", options, input);
  }

  /** Changes what is in the input and keeps the rest. */
  change(id: string, input: WatchlistInput, options: CallOptions = {}): Promise<Watchlist> {
    return this.#send("PATCH", `/${encode(id)}`, options, input);
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#send("DELETE", `/${encode(id)}`, options);
  }

  /** Adds an issuer, by an identifier, a ticker or a name. */
  add(id: string, issuer: string, options: CallOptions = {}): Promise<Watchlist> {
    return this.#send("POST", `/${encode(id)}/entries`, options, { issuer });
  }

  remove(id: string, issuer: string, options: CallOptions = {}): Promise<Watchlist> {
    return this.#transport.json({
      method: "DELETE",
      path: `/api/v1/account/watchlists/${encode(id)}/entries`,
      query: { issuer },
      ...options,
    });
  }

  /** Adds the issuers that the lines of a text name: a list, or a table with commas, semicolons or tabs. */
  import(id: string, text: string, options: CallOptions = {}): Promise<WatchlistImport> {
    return this.#send("POST", `/${encode(id)}/import`, options, text);
  }

  #send<T>(method: string, path: string, options: CallOptions, body?: unknown): Promise<T> {
    return this.#transport.json<T>({
      method,
      path: `/api/v1/account/watchlists${path}`,
      body,
      ...options,
    });
  }
}

/** The largest piece that the service sends, in characters, and of its JSON in bytes. */
const pieceCharacters = 200_000;
const pieceBytes = 8 << 20;

/** The longest text of a document, in characters. */
const longestDocument = 50_000_000;

/** How often a document is read again that is replaced while it is read. */
const mostReplacements = 3;

// Reads a document piece by piece. If another version of it replaces it meanwhile, it is read
// again from its beginning.
async function readDocument(
  transport: Transport,
  id: string,
  options: CallOptions,
  replacements = 0,
): Promise<DocumentText> {
  const whole = await readPiece(transport, id, 0, options);
  const pages = [...whole.text];
  let next = whole.next_offset;
  while (next !== null) {
    if (next > longestDocument) {
      throw new PregonError("invalid", `the document of ${id} has more than ${longestDocument} characters`);
    }
    const piece = await readPiece(transport, id, next, options);
    if (piece.sha256 !== whole.sha256 || piece.total_chars !== whole.total_chars) {
      if (replacements === mostReplacements) {
        throw new PregonError("integrity", `the document of ${id} changed each time while it was read: read it again`);
      }
      return readDocument(transport, id, options, replacements + 1);
    }
    append(pages, piece.text);
    if (piece.next_offset !== null && !(piece.next_offset > next)) {
      throw new PregonError("integrity", `the document of ${id} does not continue after the character ${next}`);
    }
    next = piece.next_offset;
    whole.token_estimate += piece.token_estimate;
  }
  return { ...whole, text: pages, next_offset: null };
}

// Appends pages, the first of which may continue the last.
function append(pages: DocumentText["text"], further: DocumentText["text"]): void {
  for (const page of further) {
    const last = pages.at(-1);
    if (last && last.page === page.page) {
      last.text += page.text;
    } else {
      pages.push(page);
    }
  }
}

function readPiece(transport: Transport, id: string, offset: number, options: CallOptions): Promise<DocumentText> {
  const path = `/api/v1/reports/${encode(id)}/document`;
  const request = { path, query: { offset, max_chars: pieceCharacters }, ...options };
  return transport.send(request, async (answer) => {
    const body = new TextDecoder().decode(await readBytes(answer, pieceBytes));
    if (answer.response.status === 202) {
      throw new PregonError("unavailable", `the service is still reading the document of ${id}`, {
        status: 202,
        retryAfter: retryAfter(answer.response.headers),
      });
    }
    return parseJson(request, body) as DocumentText;
  });
}
