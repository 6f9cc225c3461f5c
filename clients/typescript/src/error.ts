import type { Problem } from "./types.js";

/**
 * What went wrong, for programs. It is the same word in all clients of Pregón; a later version
 * may have more.
 *
 * - `invalid`: the service does not accept the request; `problem.errors` names each wrong parameter
 * - `unauthorized`: there is no key, or it is not valid
 * - `forbidden`: the key may not do this
 * - `not_found`: there is no such thing
 * - `conflict`: it contradicts the present state
 * - `rate_limited`: too many requests; `retryAfter` says when to continue
 * - `unavailable`: the service cannot answer now
 * - `connection`: no whole answer came: the connection failed, was cut, or took too long
 * - `integrity`: a file, report or proof is not the one that was published, or another server answered
 * - `signature`: the service did not sign it: a proof, or the request to a webhook
 */
export type ErrorKind =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "unavailable"
  | "connection"
  | "integrity"
  | "signature";

/** What is known of a failure beside its kind and message. */
export interface ErrorDetails {
  /** The status of the answer, if there was one. */
  status?: number | undefined;
  /** The problem document of the service (RFC 9457), if it sent one. */
  problem?: Problem | undefined;
  /** For how many seconds to wait, if the service said so. */
  retryAfter?: number | undefined;
  /** The error that led to this one. */
  cause?: unknown;
}

/** The error of all calls. An aborted call has the reason of its signal instead, as with `fetch`. */
export class PregonError extends Error {
  readonly kind: ErrorKind;
  readonly status: number | undefined;
  readonly problem: Problem | undefined;
  readonly retryAfter: number | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "PregonError";
    this.kind = kind;
    this.status = details.status;
    this.problem = details.problem;
    this.retryAfter = details.retryAfter;
  }
}

const kinds: Record<number, ErrorKind> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  410: "not_found",
  429: "rate_limited",
};

/** Returns the error of an answer that is not a success. */
export function errorOfAnswer(what: string, response: Response, body: string): PregonError {
  const { status } = response;
  if (status < 400) {
    return new PregonError("invalid", redirected(what, response), { status });
  }
  const kind = kinds[status] ?? (status >= 500 ? "unavailable" : "invalid");
  const problem = parseProblem(body);
  const message = problem?.detail ?? problem?.title ?? response.statusText;
  return new PregonError(kind, `${what}: ${message} (${status})`, {
    status,
    problem,
    retryAfter: retryAfter(response.headers),
  });
}

// A redirect is not followed: the key would be sent to another address.
function redirected(what: string, response: Response): string {
  const place = response.headers.get("Location") ?? "another address";
  return `${what}: the service redirects to ${place}, which this client does not follow. Use the address that it leads to`;
}

function parseProblem(body: string): Problem | undefined {
  try {
    const problem: unknown = JSON.parse(body);
    return isProblem(problem) ? problem : undefined;
  } catch {
    return undefined; // a proxy answered
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Returns the seconds of a Retry-After, which is a number or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("Retry-After");
  if (text === null) {
    return undefined;
  }
  if (/^\s*\d+\s*$/.test(text)) {
    return Number(text);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
