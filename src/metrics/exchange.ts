import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../errors/fail.ts';
import { type ProcessReport, renderReports, type Scrape, Scrapes } from '../observe/metrics/index.ts';
import type { AppMetrics } from './app-metrics.ts';
import { countersOf, reportOf, sumOf } from './counters.ts';

/** Time that a process has to report, in milliseconds. One that takes longer is left out of the scrape. */
const REPORT_TIMEOUT_MS = 2_000;
/** Time that a worker waits for the text of a scrape, in milliseconds. */
const SCRAPE_TIMEOUT_MS = 5_000;
/** Time that a worker has to pass on its last report, in milliseconds. */
const LAST_REPORT_TIMEOUT_MS = 1_000;

/** Messages of the primary process to a worker. */
type ToWorker =
  | { readonly metrics: 'report'; readonly isFirst: boolean }
  | { readonly metrics: 'scraped'; readonly number: number; readonly text: string | null };
/** Messages of a worker to the primary process. */
type ToPrimary =
  | { readonly metrics: 'reported'; readonly report: ProcessReport }
  | { readonly metrics: 'scrape'; readonly number: number; readonly format: 'text' | 'openMetrics' };

/** Answers, in a worker, when the primary process asks for a report. @returns passes on a last report, so that its counts are not lost */
export function reportToPrimary(metrics: Pick<AppMetrics, 'report' | 'observed'>): () => Promise<void> {
  const send = async (report: ProcessReport) => {
    const message: ToPrimary = { metrics: 'reported', report };
    await new Promise((resolve) => (process.connected ? process.send?.(message, resolve) : resolve(null)));
  };
  process.on('message', (message: Partial<ToWorker>) => {
    if (message?.metrics !== 'report') return;
    // If it fails, the primary process takes what it knows.
    void metrics.report(message.isFirst === true).then(send, () => {});
  });
  return async () => {
    const passing = metrics.observed().then((observed) => send(reportOf(observed)));
    await Promise.race([passing.catch(() => {}), wait(LAST_REPORT_TIMEOUT_MS, undefined, { ref: false })]);
  };
}

/** Returns, in a worker, a function that gets the metrics of all processes from the primary one. It throws unavailable if that does not answer. */
export function scrapeByPrimary(): Scrape {
  const waiting = new Map<number, (text: string | null) => void>();
  let last = 0;
  process.on('message', (message: Partial<ToWorker>) => {
    if (message?.metrics === 'scraped') waiting.get(message.number ?? 0)?.(message.text ?? null);
  });
  const scrapes = new Scrapes(async (format) => {
    const number = ++last;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    waiting.set(number, resolve);
    try {
      process.send?.({ metrics: 'scrape', number, format } satisfies ToPrimary);
      const text = await Promise.race([promise, wait(SCRAPE_TIMEOUT_MS, null, { ref: false })]);
      if (text === null) throw serviceError('unavailable');
      return text;
    } finally {
      waiting.delete(number);
    }
  });
  return (format) => scrapes.get(format);
}

/** What the primary process knows of a worker. */
interface Known {
  last: ProcessReport | undefined;
  /** Resolves with its next report. While it is set, the worker has been asked. */
  next: PromiseWithResolvers<ProcessReport> | undefined;
}

/**
 * Collects, in the primary process, the metrics of all workers. Counts never go back: those of a worker that ended are kept, and those of one that does
 * not answer are its last ones; Prometheus would take a smaller sum for a restart.
 */
export class WorkerMetrics {
  readonly #known = new Map<number, Known>();
  /** Counts of workers that have ended. */
  #ended: ProcessReport | undefined;
  readonly #scrapes = new Scrapes((format) => this.#render(format));

  constructor() {
    cluster.on('message', (worker, message: Partial<ToPrimary>) => {
      if (message?.metrics === 'reported' && message.report) this.#reported(worker.id, message.report);
      if (message?.metrics === 'scrape') void this.#answer(worker, message as Extract<ToPrimary, { metrics: 'scrape' }>);
    });
    cluster.on('exit', ({ id }) => {
      const last = this.#known.get(id)?.last;
      this.#known.delete(id);
      if (last) this.#ended = sumOf(this.#ended ? [this.#ended, countersOf(last)] : [countersOf(last)]);
    });
  }

  /** Metrics of all processes. */
  readonly scrape: Scrape = (format) => this.#scrapes.get(format);

  #reported(id: number, report: ProcessReport): void {
    const known = this.#knownOf(id);
    known.last = report;
    known.next?.resolve(report);
    known.next = undefined;
  }

  async #answer(worker: Worker, { number, format }: Extract<ToPrimary, { metrics: 'scrape' }>): Promise<void> {
    const text = await this.scrape(format === 'openMetrics' ? format : 'text').catch(() => null);
    if (worker.isConnected()) worker.send({ metrics: 'scraped', number, text } satisfies ToWorker, () => {});
  }

  async #render(format: 'text' | 'openMetrics'): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true) as Worker[];
    // One of those that have answered so far reports what is the same in all.
    const first = workers.find(({ id }) => !this.#knownOf(id).next);
    const reports = await Promise.all(workers.map((worker) => this.#reportOf(worker, worker === first)));
    const all = [...reports, this.#ended].filter((report) => report !== undefined);
    if (all.length === 0) throw serviceError('unavailable');
    return renderReports(all, format);
  }

  /** Returns a worker's report; its last counts if it does not answer in time; `undefined` if it has never answered. */
  async #reportOf(worker: Worker, isFirst: boolean): Promise<ProcessReport | undefined> {
    const known = this.#knownOf(worker.id);
    // One that has not answered yet is not asked again: the questions of all scrapes would be waiting for it.
    if (!known.next) {
      known.next = Promise.withResolvers<ProcessReport>();
      worker.send({ metrics: 'report', isFirst } satisfies ToWorker, () => {});
    }
    const report = await Promise.race([known.next.promise, wait(REPORT_TIMEOUT_MS, undefined, { ref: false })]);
    return report ?? (known.last && countersOf(known.last));
  }

  #knownOf(id: number): Known {
    const known = this.#known.get(id) ?? { last: undefined, next: undefined };
    this.#known.set(id, known);
    return known;
  }
}
