import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../test/support/service.ts';
import { table } from './records.ts';
import { milliseconds } from './report.ts';

/** Delay between two point reads in milliseconds. */
const READ_INTERVAL_MS = 5;
const WARM_MS = 1_000;
/** Duration of the baseline: a p99 rests on one hundredth of its reads. */
const BASELINE_MS = 15_000;

/** Durations of point reads in milliseconds, sorted. */
type Took = readonly number[];

/** Point reads by one client, with and without other load. */
export class PointReads {
  readonly #service: Service;
  readonly #path: string;
  readonly #ids: readonly string[];
  quiet: Took = [];

  private constructor(service: Service, path: string, ids: readonly string[]) {
    this.#service = service;
    this.#path = path;
    this.#ids = ids;
  }

  /** Selects records to read, and measures the baseline without other load. */
  static async begin(service: Service, className = table): Promise<PointReads> {
    const path = `/platform/classes/${className}`;
    const { body } = await service.call('GET', path, { query: { limit: 100 } });
    const reads = new PointReads(
      service,
      path,
      body.results.map(({ objectId }: { objectId: string }) => objectId),
    );
    await reads.#during(wait(WARM_MS));
    reads.quiet = await reads.#during(wait(BASELINE_MS));
    return reads;
  }

  /** Reads for the duration of some work. */
  async beside<T>(work: Promise<T>): Promise<{ result: T; took: Took }> {
    const [result, took] = await Promise.all([work, this.#during(work)]);
    return { result, took };
  }

  async #during(work: Promise<unknown>): Promise<Took> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    const took: number[] = [];
    for (let at = 0; !isOver; at++) {
      const began = performance.now();
      await this.#service.call('GET', `${this.#path}/${this.#ids[at % this.#ids.length]}`, { as: 'apiKey' });
      took.push(performance.now() - began);
      await wait(READ_INTERVAL_MS);
    }
    return took.sort((a, b) => a - b);
  }
}

/** Returns a quantile. */
export const quantile = (took: Took, share: number): number => took[Math.floor(took.length * share)] ?? 0;

/** Formats baseline and loaded durations for a table of results. */
export const besideOf = (quiet: Took, busy: Took, share: number): string =>
  `${milliseconds(quantile(quiet, share))}, ${milliseconds(quantile(busy, share))}`;
