/** A strict reading of both formats of Prometheus: what a scraper may rely on, and no more. */
import assert from 'node:assert/strict';

/** A value with its labels. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

export type Families = ReadonlyMap<string, Family>;

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const sampleLine = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (-?[0-9.e+-]+|\\+Inf|NaN)$`);
const suffixes: Readonly<Record<string, readonly string[]>> = { histogram: ['_bucket', '_sum', '_count'] };

/** @param isOpenMetrics with `# EOF`, and counters whose family has no suffix */
export function familiesOf(text: string, isOpenMetrics = false): Families {
  assert.ok(text.endsWith('\n'));
  const lines = text.trimEnd().split('\n');
  assert.equal(lines.at(-1) === '# EOF', isOpenMetrics);
  const families = new Map<string, Family>();
  let current: Family & { name: string } = { name: '', type: '', help: '', samples: [] };
  const seen = new Set<string>();
  for (const line of isOpenMetrics ? lines.slice(0, -1) : lines) {
    if (line === '' && !isOpenMetrics) continue;
    const [, kind, name = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!families.has(name), `${name} twice`);
      current = { name, type: '', help: rest, samples: [] };
    } else if (kind === 'TYPE') {
      assert.equal(name, current.name, line);
      current = { ...current, type: rest };
      families.set(name, current);
    } else {
      const [, sample = '', labels = '', value = ''] = sampleLine.exec(line) ?? assert.fail(`no sample: ${line}`);
      const allowed = suffixes[current.type] ?? [isOpenMetrics && current.type === 'counter' ? '_total' : ''];
      assert.ok(
        allowed.some((suffix) => sample === current.name + suffix),
        line,
      );
      const key = `${sample}{${labels}}`;
      assert.ok(!seen.has(key), `twice: ${key}`);
      seen.add(key);
      current.samples.push({ name: sample, labels: labelsOf(labels), value: Number(value.replace('+Inf', 'Infinity')) });
    }
  }
  for (const [name, family] of families) {
    assert.match(family.type, /^(counter|gauge|histogram)$/, name);
    if (family.type === 'histogram') checkHistogram(name, family);
    if (family.type === 'counter' && !isOpenMetrics) assert.match(name, /_total$/);
    if (family.type === 'gauge') assert.doesNotMatch(name, /_total$/);
  }
  return families;
}

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from(text.matchAll(/([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"/g), ([, name, value]) => [name, value]));

/** Buckets grow up to `+Inf`, which is the count. */
function checkHistogram(name: string, { samples }: Family): void {
  const keyOf = ({ labels: { le: _, ...others } }: Sample) => JSON.stringify(others);
  for (const [key, series] of Map.groupBy(samples, keyOf)) {
    const buckets = series.filter((sample) => sample.name === `${name}_bucket`);
    let before: readonly [number, number] = [Number.NEGATIVE_INFINITY, 0];
    for (const { labels, value } of buckets) {
      const bound = Number(labels.le?.replace('+Inf', 'Infinity'));
      assert.ok(bound > before[0] && value >= before[1], `${name} ${key}`);
      before = [bound, value];
    }
    const count = series.find((sample) => sample.name === `${name}_count`);
    assert.deepEqual(before, [Number.POSITIVE_INFINITY, count?.value], `${name} ${key}`);
    assert.ok(series.some((sample) => sample.name === `${name}_sum`));
  }
}

/** The sum of samples with these labels, 0 if there is none. */
export function sumOfSamples(families: Families, name: string, labels: Record<string, string> = {}): number {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  const found = (family?.samples ?? []).filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return found.reduce((sum, { value }) => sum + value, 0);
}

/** All samples of a metric. */
export const samplesOf = (families: Families, name: string): readonly Sample[] => families.get(name)?.samples ?? [];
