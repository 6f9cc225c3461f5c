// Server-Sent Events, as the HTML standard reads them.
import { PregonError } from "./error.js";

/** An event of a stream. */
export interface Message {
  /** The last id that the stream had, of this event or an earlier one. */
  id: string;
  event: string;
  data: string;
}

/** The longest line and the longest event, in characters. */
const longest = 4 << 20;

/**
 * Reads events from pieces of a stream, which may be divided anywhere. An event that has no
 * empty line after it is not whole and is dropped.
 */
export class Parser {
  /** The milliseconds after which the service wants clients to come back, if it said so. */
  retry: number | undefined;
  readonly #decoder = new TextDecoder(); // removes a byte order mark
  #line = "";
  #afterReturn = false; // the last character was a carriage return, which a line feed may follow
  #id = "";
  #event = "";
  #data: string[] = [];
  #length = 0;

  /** Returns the events that end in this piece. */
  push(piece: Uint8Array): Message[] {
    const messages: Message[] = [];
    for (const line of this.#lines(this.#decoder.decode(piece, { stream: true }))) {
      const message = line === "" ? this.#dispatch() : this.#field(line);
      if (message) {
        messages.push(message);
      }
    }
    return messages;
  }

  *#lines(text: string): Generator<string> {
    let rest = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") {
      this.#afterReturn = false;
    }
    for (;;) {
      const end = rest.search(/[\r\n]/);
      if (end < 0) {
        break;
      }
      yield this.#line + rest.slice(0, end);
      this.#line = "";
      const width = rest.startsWith("\r\n", end) ? 2 : 1;
      this.#afterReturn = rest[end] === "\r" && end + width === rest.length && width === 1;
      rest = rest.slice(end + width);
    }
    this.#line += rest;
    this.#limit(this.#line.length);
  }

  #field(line: string): undefined {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (name) {
      case "id":
        if (!value.includes("\0")) {
          this.#id = value;
        }
        break;
      case "event":
        this.#event = value;
        break;
      case "data":
        this.#length += value.length + 1;
        this.#limit(this.#length);
        this.#data.push(value);
        break;
      case "retry":
        if (/^\d{1,9}$/.test(value)) {
          this.retry = Number(value);
        }
        break;
    }
    return undefined;
  }

  #dispatch(): Message | undefined {
    const message = {
      id: this.#id,
      event: this.#event || "message",
      data: this.#data.join("\n"),
    };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.#length = 0;
    return empty ? undefined : message;
  }

  #limit(length: number): void {
    if (length > longest) {
      throw new PregonError("integrity", `an event of the stream has more than ${longest} characters`);
    }
  }
}
