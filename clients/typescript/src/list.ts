import { PregonError } from "./error.js";

/** A page of a list. */
interface Page<Item> {
  data: Item[];
  total?: number;
  page?: number;
  limit?: number;
}

/** How a list is read. */
export interface ListSource<Item, P extends Page<Item>> {
  /** The number of the first page. */
  start: number;
  fetch(page: number): Promise<P>;
  /** What distinguishes an item from all others, of a short length; undefined if nothing does. */
  identify?(item: Item): string | Promise<string> | undefined;
  /** The number of items on all pages, if it is not `total`. */
  count?(page: P): number | undefined;
}

/**
 * A list of any length, which is read page by page as the caller needs it:
 *
 *     for await (const report of client.reports.search({ type: "IP" })) { … }
 *
 * What is published meanwhile moves the pages. No item is returned twice all the same.
 */
export class List<Item, P extends Page<Item> = Page<Item>> implements AsyncIterable<Item> {
  readonly #source: ListSource<Item, P>;

  constructor(source: ListSource<Item, P>) {
    this.#source = source;
  }

  /** The pages as the service sends them, for instance for the `total` of the first one. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    const { start, fetch, count } = this.#source;
    for (let number = start; ; number++) {
      const page = await fetch(number);
      if (!Array.isArray(page?.data)) {
        throw new PregonError("integrity", "the answer is not a page of a list: another server sent it");
      }
      yield page;
      const total = count ? count(page) : page.total;
      const end = number * (page.limit ?? page.data.length);
      if (total === undefined || page.data.length === 0 || end >= total) {
        return;
      }
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const seen = new Set<string>();
    for await (const page of this.pages()) {
      for (const item of page.data) {
        const id = await this.#source.identify?.(item);
        if (id !== undefined && seen.has(id)) {
          continue;
        }
        if (id !== undefined) {
          seen.add(id);
        }
        yield item;
      }
    }
  }

  /** Returns the first items, `most` at most. */
  async take(most: number): Promise<Item[]> {
    const items: Item[] = [];
    if (most <= 0) {
      return items;
    }
    for await (const item of this) {
      items.push(item);
      if (items.length >= most) {
        break;
      }
    }
    return items;
  }
}
