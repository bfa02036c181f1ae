import type { Format } from './format.ts';

/** Part of the time, at most, that is spent on scrapes: an answer is given again for this many times as long as it took to make. */
const REST_FACTOR = 9;
/** Longest time that an answer is given again, in milliseconds. */
const MAX_REST_MS = 1_000;

interface Made {
  readonly text: Promise<string>;
  /** By `performance.now()`; infinite until it is made. */
  until: number;
}

/** Makes the text of scrapes, each format once at a time, whatever the number of scrapers. */
export class Scrapes {
  readonly #make: (format: Format) => Promise<string>;
  readonly #made = new Map<Format, Made>();

  constructor(make: (format: Format) => Promise<string>) {
    this.#make = make;
  }

  /** @throws what making it throws */
  get(format: Format): Promise<string> {
    const began = performance.now();
    const known = this.#made.get(format);
    if (known && known.until > began) return known.text;
    const made: Made = { text: this.#make(format), until: Number.POSITIVE_INFINITY };
    this.#made.set(format, made);
    made.text.then(
      () => {
        const now = performance.now();
        made.until = now + Math.min(MAX_REST_MS, REST_FACTOR * (now - began));
      },
      () => this.#made.delete(format),
    );
    return made.text;
  }
}
