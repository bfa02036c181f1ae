import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../test/support/service.ts';
import { table } from './records.ts';
import { milliseconds } from './report.ts';

/** Milliseconds between two point reads. */
const PAUSE_MS = 5;
const WARM_MS = 1_000;
/** The hundredth part of what is read in it is what a p99 rests on. */
const QUIET_MS = 15_000;

/** Milliseconds that point reads took, sorted. */
type Took = readonly number[];

/** Point reads by one client, quiet and beside something. */
export class PointReads {
  readonly #service: Service;
  readonly #ids: readonly string[];
  quiet: Took = [];

  private constructor(service: Service, ids: readonly string[]) {
    this.#service = service;
    this.#ids = ids;
  }

  /** Looks for records to read, and how long that takes where nothing else is done. */
  static async begin(service: Service): Promise<PointReads> {
    const { body } = await service.call('GET', `/platform/classes/${table}`, { query: { limit: 100 } });
    const reads = new PointReads(
      service,
      body.results.map(({ objectId }: { objectId: string }) => objectId),
    );
    await reads.#during(wait(WARM_MS));
    reads.quiet = await reads.#during(wait(QUIET_MS));
    return reads;
  }

  /** Reads for as long as some work takes. */
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
      await this.#service.call('GET', `/platform/classes/${table}/${this.#ids[at % this.#ids.length]}`, { as: 'apiKey' });
      took.push(performance.now() - began);
      await wait(PAUSE_MS);
    }
    return took.sort((a, b) => a - b);
  }
}

/** The value below which a share of them are. */
export const quantile = (took: Took, share: number): number => took[Math.floor(took.length * share)] ?? 0;

/** Quiet and busy, of a table of results. */
export const besideOf = (quiet: Took, busy: Took, share: number): string =>
  `${milliseconds(quantile(quiet, share))}, ${milliseconds(quantile(busy, share))}`;
