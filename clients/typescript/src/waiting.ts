/** The longest time of a timer, in milliseconds: a longer one ends at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits, or rejects with the reason of the signal as soon as it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, Math.min(milliseconds, longestTimer));
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** Returns how long to wait before a repeated attempt: longer each time, and never the same. */
export function backoff(attempt: number, most: number): number {
  const longest = Math.min(most, 500 * 2 ** Math.min(attempt, 20));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * A signal that aborts with another one, and when nothing has happened for some time.
 * `end` must be called, or the other signal keeps it.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #milliseconds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(milliseconds: number, parent?: AbortSignal) {
    this.#milliseconds = Math.min(milliseconds, longestTimer);
    this.#parent = parent;
    parent?.addEventListener("abort", this.#aborted, { once: true });
    if (parent?.aborted) {
      this.#aborted();
    }
    this.extend();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time again. */
  extend(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), this.#milliseconds);
  }

  /** Ends the wait; the signal is aborted, which frees a connection that is still open. */
  end(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this.#aborted);
    this.#controller.abort();
  }

  readonly #aborted = () => this.#controller.abort(this.#parent?.reason);

  #expire(): void {
    this.#controller.abort(new Error(`nothing came within ${this.#milliseconds / 1000} seconds`));
  }
}
