// Verifies the signatures of webhooks, as https://www.standardwebhooks.com has them.
import { concat, decodeBase64, encodeText } from "./bytes.js";
import { PregonError } from "./error.js";
import type { Event } from "./types.js";

/** The headers of a request: those of `fetch`, or those of a server of Node. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** How a webhook is verified. */
export interface VerifyOptions {
  /** How old a signature may be, and how far in the future, in seconds: 300 unless given. */
  tolerance?: number | undefined;
  /** The present time: now unless given. */
  now?: Date | undefined;
}

/** The sample that `POST /api/v1/webhooks/{id}/test` sends: no change of the log, so that it has no cursor. */
export type WebhookTest = Omit<Event, "event" | "cursor"> & {
  event: "webhook.test";
  test: true;
  cursor?: undefined;
};

/** What a request to a webhook has: a change, or the sample of a test. */
export type WebhookEvent = Event | WebhookTest;

const largestBody = 1 << 20;

/**
 * Verifies that the service sent this request and returns its event. `body` must be exactly what
 * came, not JSON that was read and written again. After a rotation give both secrets.
 *
 * A request may come more than once: remember the `webhook-id` of those that you have processed.
 */
export async function verify(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = typeof body === "string" ? encodeText(body) : body;
  if (bytes.length > largestBody) {
    throw wrong(`the body has more than ${largestBody} bytes`);
  }
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature");
  checkTime(timestamp, options);
  const signed = concat([encodeText(`${id}.${timestamp}.`), bytes]);
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    if (await hasSigned(secret, signed, signatures)) {
      return parseEvent(bytes);
    }
  }
  throw wrong("no signature is one of the secret");
}

function parseEvent(bytes: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    event = undefined;
  }
  if (typeof event !== "object" || event === null || Array.isArray(event)) {
    throw new PregonError("integrity", "the webhook was signed, but its body is not a JSON object");
  }
  return event as WebhookEvent;
}

function wrong(text: string): PregonError {
  return new PregonError("signature", `the webhook is not verified: ${text}`);
}

function header(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : find(headers, name);
  if (typeof value !== "string" || value === "" || value.length > 4096) {
    throw wrong(`it has no header ${name}`);
  }
  return value;
}

function find(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name) {
      return Array.isArray(value) ? value.join(" ") : value;
    }
  }
  return undefined;
}

function checkTime(timestamp: string, options: VerifyOptions): void {
  const tolerance = options.tolerance ?? 300;
  const now = (options.now ?? new Date()).getTime() / 1000;
  if (!/^\d{1,12}$/.test(timestamp) || !(Math.abs(now - Number(timestamp)) <= tolerance)) {
    throw wrong(`its time is not within ${tolerance} seconds of now: it was sent again, or a clock is wrong`);
  }
}

async function hasSigned(secret: string, signed: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
  const bytes = decodeBase64(secret.trim().replace(/^whsec_/, ""));
  if (!bytes || bytes.length === 0) {
    throw new TypeError("a secret must be the text that begins with whsec_");
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  for (const part of signatures.split(" ").slice(0, 16)) {
    const signature = part.startsWith("v1,") ? decodeBase64(part.slice(3)) : undefined;
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
      return true;
    }
  }
  return false;
}
