/** A value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Name of a part of a histogram; default: the name of the metric. */
  readonly metricName?: string;
}

/** A metric of one process, in the form of prom-client. */
export interface MetricReport {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How the values of several processes become one. */
  readonly aggregator: 'sum' | 'max' | 'min' | 'average' | 'first' | 'omit';
  readonly values: readonly Sample[];
}

/** Name and help of a metric, and its label if it has one. */
export interface Description {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
}

/** Distinct values of a label. Further ones are counted as `other`, whatever clients send. */
export const MAX_LABELS = 300;
export const OTHER = 'other';

/** Series by the value of a label, within `MAX_LABELS`. */
export class Labelled<Series> {
  readonly #series = new Map<string, Series>();
  readonly #create: () => Series;

  constructor(create: () => Series) {
    this.#create = create;
  }

  of(value: string): Series {
    const known = this.#series.get(value);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_LABELS && value !== OTHER) return this.of(OTHER);
    const created = this.#create();
    this.#series.set(value, created);
    return created;
  }

  entries(): Iterable<[string, Series]> {
    return this.#series;
  }
}

/** Counts by the value of a label. */
export class Counter {
  readonly #about: Description;
  readonly #counts = new Labelled(() => ({ count: 0 }));

  /** @param values of the label that are reported as 0 before the first of them occurs */
  constructor(about: Description, values: readonly string[] = []) {
    this.#about = about;
    for (const value of values) this.#counts.of(value);
  }

  increment(value = ''): void {
    this.#counts.of(value).count++;
  }

  report(): MetricReport {
    const { name, help, label } = this.#about;
    const values = Array.from(this.#counts.entries(), ([value, { count }]) => ({ labels: labelled(label, value), value: count }));
    return { name, help, type: 'counter', aggregator: 'sum', values };
  }
}

/** Bounds in seconds of what takes from a fraction of a millisecond to the time limit of queries. */
export const SECONDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bounds of the writes of a commit. */
export const WRITES: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** One histogram: numbers in buckets, and their sum. An observation allocates nothing. */
export class Buckets {
  readonly #bounds: readonly number[];
  /** By bucket, not cumulative; the last one has what exceeds all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    (this.#counts[at] as number)++;
    this.#sum += value;
  }

  /** @param labels of the series */
  samples(name: string, labels: Sample['labels']): Sample[] {
    let count = 0;
    const samples: Sample[] = this.#counts.map((own, at) => {
      count += own;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: this.#bounds[at] ?? '+Inf' }, value: count };
    });
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sum }, { metricName: `${name}_count`, labels, value: count });
    return samples;
  }
}

/** Histograms by the value of a label. */
export class Histogram {
  readonly #about: Description;
  readonly #series: Labelled<Buckets>;

  constructor(about: Description, bounds = SECONDS) {
    this.#about = about;
    this.#series = new Labelled(() => new Buckets(bounds));
    // Without a label there is one series, which is there from the start.
    if (about.label === undefined) this.#series.of('');
  }

  observe(value: number, label = ''): void {
    this.#series.of(label).observe(value);
  }

  report(): MetricReport {
    const { name, help, label } = this.#about;
    const values = Array.from(this.#series.entries(), ([value, buckets]) => buckets.samples(name, labelled(label, value)));
    return { name, help, type: 'histogram', aggregator: 'sum', values: values.flat() };
  }
}

const labelled = (label: string | undefined, value: string): Sample['labels'] => (label === undefined ? {} : { [label]: value });

/** Reports present values, by the value of a label. */
export const gauge = (
  { name, help, label }: Description,
  aggregator: MetricReport['aggregator'],
  values: Iterable<readonly [string, number]>,
): MetricReport => ({
  name,
  help,
  type: 'gauge',
  aggregator,
  values: Array.from(values, ([value, number]) => ({ labels: labelled(label, value), value: number })),
});
