import { collectDefaultMetrics, Registry } from 'prom-client';
import { loginOutcomes, mailOutcomes, type Observations } from '../observations.ts';
import { RequestMetrics } from './requests.ts';
import { Counter, Histogram, type MetricReport, WRITES } from './series.ts';

/** The systems as a process knows them. */
export interface SystemCounts {
  /** Application ids of systems that are open here. Processes may have opened different ones. */
  readonly open: readonly string[];
  /** Systems in force that are not held. */
  readonly active: number;
  readonly held: number;
  readonly removed: number;
}

/** What one process reports. JSON: processes send it to each other. */
export interface ProcessReport {
  readonly metrics: readonly MetricReport[];
  readonly systems: SystemCounts;
}

/** Present values that are read when they are reported. */
export interface ReportParts {
  systems(): Promise<SystemCounts>;
  /** @param isFirst whether this process reports also what is the same in all of them */
  gauges(isFirst: boolean): Promise<readonly MetricReport[]>;
}

/** Gauges whose names end like those of counters, which OpenMetrics forbids. The same is in other metrics, by type. */
const misnamed: ReadonlySet<string> = new Set(['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`));

/** Node's metrics are means of the processes, or sums, but for this one. */
const STARTED = 'process_start_time_seconds';

/** What this process has observed. Reference: metrics.md#metrics. */
export class ProcessMetrics {
  readonly #requests = new RequestMetrics();
  readonly #commitSeconds = new Histogram({ name: 'rds_commit_seconds', help: 'Time of commits in seconds.' });
  readonly #commitWrites = new Histogram({ name: 'rds_commit_writes', help: 'Writes in a commit.' }, WRITES);
  readonly #readWait = new Histogram({
    name: 'rds_read_wait_seconds',
    help: 'Time that reads waited for a thread or a connection, in seconds.',
  });
  readonly #mail = new Counter(
    { name: 'rds_mail_total', help: 'Messages, and attempts to send one, by outcome.', label: 'outcome' },
    mailOutcomes,
  );
  readonly #logins = new Counter(
    { name: 'rds_logins_total', help: 'Sign-ins with a password, by outcome.', label: 'outcome' },
    loginOutcomes,
  );
  readonly #functions = new Histogram({
    name: 'rds_function_seconds',
    help: 'Time of function calls in seconds, by function.',
    label: 'function',
  });
  readonly #node = new Registry();
  readonly #parts: ReportParts;

  constructor(observations: Observations, parts: ReportParts) {
    this.#parts = parts;
    collectDefaultMetrics({ register: this.#node });
    observations.subscribe(['request'], ({ route, method, status, ms }) => this.#requests.observe(route, method, status, ms));
    observations.subscribe(['commit'], ({ ms, writes }) => {
      this.#commitSeconds.observe(ms / 1_000);
      this.#commitWrites.observe(writes);
    });
    observations.subscribe(['read'], ({ waitMs }) => this.#readWait.observe(waitMs / 1_000));
    observations.subscribe(['mail'], ({ outcome }) => this.#mail.increment(outcome));
    observations.subscribe(['login'], ({ outcome }) => this.#logins.increment(outcome));
    observations.subscribe(['function'], ({ name, ms }) => this.#functions.observe(ms / 1_000, name));
  }

  /** @param isFirst as in `ReportParts` */
  async report(isFirst: boolean): Promise<ProcessReport> {
    const { systems, gauges } = this.#parts;
    const [observed, counted, present] = await Promise.all([this.observed(), systems(), gauges(isFirst)]);
    return { metrics: [...observed, ...present], systems: counted };
  }

  /** What was observed, without values that are read. */
  async observed(): Promise<readonly MetricReport[]> {
    const node = (await this.#node.getMetricsAsJSON()) as unknown as MetricReport[];
    const own = [this.#commitSeconds, this.#commitWrites, this.#readWait, this.#mail, this.#logins, this.#functions];
    return [
      ...this.#requests.report(),
      ...own.map((series) => series.report()),
      ...node.filter(({ name }) => !misnamed.has(name)).map(reported),
    ];
  }
}

/** Corrects a metric of Node's: the start of the earliest process would be left out, and means of nothing are no numbers. */
const reported = (metric: MetricReport): MetricReport => ({
  ...metric,
  ...(metric.name === STARTED && { aggregator: 'min' }),
  values: metric.values.filter(({ value }) => Number.isFinite(value)),
});
