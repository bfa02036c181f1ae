import type { Config } from '../config/index.ts';
import { isPassing } from '../errors/fail.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { type Conditions, faultPlace, type Observations } from '../observe/index.ts';
import {
  gauge,
  type MetricReport,
  ProcessMetrics,
  type ProcessReport,
  renderReports,
  type Scrape,
  Scrapes,
} from '../observe/metrics/index.ts';
import type { Engine } from '../storage/engine.ts';
import type { Registry } from '../storage/registry.ts';
import type { SearchPart, Systems } from '../systems/index.ts';
import { oldestBackup } from './backup-age.ts';
import { JobCounts, type JobTotals } from './job-counts.ts';
import { Remembered } from './remembered.ts';

/** Ages in milliseconds up to which values are reported again without reading them. */
const JOBS_AGE_MS = 15_000;
const SIZES_AGE_MS = MINUTE_MS;
const BACKUP_AGE_MS = 10 * MINUTE_MS;
/** Longest time that a scrape waits for values that were never read, in milliseconds. */
const FIRST_WAIT_MS = 1_000;
/** Systems whose sizes are reported: the largest. */
const MAX_SIZES = 100;

/** Dependencies of the metrics. */
export interface AppMetricsParts {
  readonly config: Pick<Config, 'backup'>;
  readonly stores: { readonly engine: Pick<Engine, 'load' | 'sizes'>; readonly registry: Pick<Registry, 'read'> };
  readonly systems: Systems;
  readonly observations: Observations;
  readonly conditions: Conditions;
}

/** The metrics of a process: what it has observed, and what is read of its systems. Nothing is opened or read in a store for a scrape. */
export class AppMetrics {
  /** Part of the search of all systems. */
  readonly searched: SearchPart;
  readonly #parts: AppMetricsParts;
  readonly #metrics: ProcessMetrics;
  readonly #jobs: Remembered<JobTotals>;
  readonly #sizes: Remembered<readonly (readonly [appId: string, bytes: number])[]>;
  readonly #backup: Remembered<number | null>;
  readonly #scrapes = new Scrapes(async (format) => renderReports([await this.report(true)], format));

  constructor(parts: AppMetricsParts) {
    const { config, stores, systems, observations } = parts;
    this.#parts = parts;
    const jobs = new JobCounts(systems);
    this.searched = jobs.searched;
    const failed = (what: string) => (error: unknown) => this.#report(what, error);
    this.#jobs = new Remembered(() => jobs.read(), JOBS_AGE_MS, failed('jobs could not be counted'));
    this.#sizes = new Remembered(() => this.#readSizes(), SIZES_AGE_MS, failed('the sizes of stores could not be read'));
    const { backup } = config;
    const readBackup = async () => (backup ? oldestBackup(backup.url, stores.registry) : null);
    this.#backup = new Remembered(readBackup, BACKUP_AGE_MS, failed('the backups at BACKUP_URL could not be listed'));
    this.#metrics = new ProcessMetrics(observations, {
      systems: () => systems.counts(),
      gauges: (isFirst) => this.#gauges(isFirst),
    });
  }

  /** @param isFirst whether to report also what is the same in all processes */
  report(isFirst: boolean): Promise<ProcessReport> {
    return this.#metrics.report(isFirst);
  }

  /** What was observed until the end of the process, when its stores are closed. */
  observed(): Promise<readonly MetricReport[]> {
    return this.#metrics.observed();
  }

  /** The metrics of this process, if it is the only one. */
  readonly scrapeAlone: Scrape = (format) => this.#scrapes.get(format);

  #report(what: string, error: unknown): void {
    if (!isPassing(error)) this.#parts.conditions.met(what, faultPlace(error), error);
  }

  async #gauges(isFirst: boolean): Promise<readonly MetricReport[]> {
    const [jobs, shared] = await Promise.all([this.#jobs.get(FIRST_WAIT_MS), isFirst ? this.#sharedGauges() : []]);
    return [...this.#loadGauges(), ...jobGauges(jobs), ...shared];
  }

  #loadGauges(): readonly MetricReport[] {
    const { reads, connections } = this.#parts.stores.engine.load();
    const running = gauge(
      { name: 'rds_reads_running', help: 'Reads that run at the moment, by lane.', label: 'lane' },
      'sum',
      Object.entries(reads),
    );
    const opened = gauge(
      { name: 'rds_database_connections', help: 'Connections to PostgreSQL, by state.', label: 'state' },
      'sum',
      connections ? Object.entries(connections) : [],
    );
    return [running, opened];
  }

  async #sharedGauges(): Promise<readonly MetricReport[]> {
    const [sizes = [], since] = await Promise.all([this.#sizes.get(FIRST_WAIT_MS), this.#backup.get(FIRST_WAIT_MS)]);
    const bytes = gauge(
      { name: 'rds_store_bytes', help: 'Approximate bytes of the largest stores, by application id.', label: 'system' },
      'max',
      sizes,
    );
    const age = gauge(
      { name: 'rds_backup_age_seconds', help: 'Age of the newest backup of the system that was backed up longest ago.' },
      'max',
      since === undefined || since === null ? [] : [['', secondsSince(since)]],
    );
    return [bytes, age];
  }

  async #readSizes(): Promise<readonly (readonly [string, number])[]> {
    const { engine, registry } = this.#parts.stores;
    const appIds = new Map(registry.read().systems.map(({ place, appId }) => [place, appId]));
    const sizes = await engine.sizes([...appIds.keys()]);
    return Array.from(sizes, ([place, bytes]) => [appIds.get(place) ?? place, bytes] as const)
      .sort(([, one], [, other]) => other - one)
      .slice(0, MAX_SIZES);
  }
}

function jobGauges(totals: JobTotals | undefined): readonly MetricReport[] {
  const { counts = [], oldest = null } = totals ?? {};
  const jobs: MetricReport = {
    name: 'rds_queue_jobs',
    help: 'Jobs of the queues, by kind and state.',
    type: 'gauge',
    aggregator: 'sum',
    values: counts.map(([kind, state, value]) => ({ labels: { kind, state }, value })),
  };
  const age = gauge(
    { name: 'rds_queue_oldest_seconds', help: 'How long the oldest job has waited that may run.' },
    'max',
    totals ? [['', oldest === null ? 0 : secondsSince(oldest)]] : [],
  );
  return [jobs, age];
}

const secondsSince = (at: number): number => Math.max(0, (Date.now() - at) / 1_000);
