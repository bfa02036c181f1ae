import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Observations } from '../observations.ts';
import { formatFor } from './format.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { renderReports } from './render.ts';
import { Scrapes } from './scrapes.ts';
import { Counter, Histogram, MAX_LABELS, OTHER } from './series.ts';

test('a histogram counts in buckets whose bounds belong to them', () => {
  const histogram = new Histogram({ name: 'h', help: 'h', label: 'of' }, [1, 2]);
  for (const value of [0.5, 1, 1.5, 2, 3]) histogram.observe(value, 'a');
  const values = histogram.report().values.map(({ metricName, labels, value }) => [metricName, labels.le, value]);
  assert.deepEqual(values, [
    ['h_bucket', 1, 2],
    ['h_bucket', 2, 4],
    ['h_bucket', '+Inf', 5],
    ['h_sum', undefined, 8],
    ['h_count', undefined, 5],
  ]);
});

test('a label has a bounded number of values', () => {
  const counter = new Counter({ name: 'c', help: 'c', label: 'of' });
  for (let n = 0; n < MAX_LABELS + 50; n++) counter.increment(`v${n}`);
  const { values } = counter.report();
  assert.equal(values.length, MAX_LABELS + 1);
  assert.deepEqual(values.at(-1), { labels: { of: OTHER }, value: 50 });
});

test('OpenMetrics only for a client that prefers it', () => {
  const cases: readonly (readonly [accept: string | undefined, openMetrics: boolean])[] = [
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['text/plain', false],
    ['application/openmetrics-text', true],
    ['application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5', true],
    ['APPLICATION/OPENMETRICS-TEXT; Q=0.5, text/plain; q=0.6', false],
    ['application/openmetrics-text;q=0', false],
    ['application/openmetrics-text;q=x', false],
  ];
  for (const [accept, openMetrics] of cases) assert.equal(formatFor(accept), openMetrics ? 'openMetrics' : 'text', accept);
});

test('scrapes of one time share an answer, an error is not kept', async () => {
  let made = 0;
  const scrapes = new Scrapes(async (format) => {
    if (++made === 3) throw new Error('of a scrape');
    return `${format} ${made}`;
  });
  const all = await Promise.all([scrapes.get('text'), scrapes.get('text'), scrapes.get('openMetrics')]);
  assert.deepEqual(all, ['text 1', 'text 1', 'openMetrics 2']);
  const failing = new Scrapes(async () => {
    made++;
    throw new Error('of a scrape');
  });
  made = 0;
  await assert.rejects(failing.get('text'), /of a scrape/);
  await assert.rejects(failing.get('text'), /of a scrape/);
  assert.equal(made, 2);
});

test('processes are summed, and a system that several have open is one', async () => {
  const reportOf = async (open: readonly string[]) => {
    const observations = new Observations();
    const systems = async () => ({ open, active: 3, held: 1, removed: 2 });
    const metrics = new ProcessMetrics(observations, { systems, gauges: async () => [] });
    observations.observe({ kind: 'request', route: '/r', method: 'GET', status: 200, ms: 4, requestId: '' });
    observations.observe({ kind: 'request', route: undefined, method: 'BREW', status: 404, ms: 4, requestId: '' });
    return metrics.report(true);
  };
  const reports = [await reportOf(['a', 'b']), await reportOf(['b'])];
  const text = await renderReports(JSON.parse(JSON.stringify(reports)), 'text');
  for (const line of [
    'rds_requests_total{route="/r",method="GET",status="200"} 2',
    'rds_requests_total{route="unknown",method="other",status="404"} 2',
    'rds_request_seconds_bucket{route="/r",le="0.0025"} 0',
    'rds_request_seconds_bucket{route="/r",le="0.005"} 2',
    'rds_request_seconds_count{route="/r"} 2',
    'rds_systems{state="open"} 2',
    'rds_systems{state="closed"} 1',
    'rds_systems{state="held"} 1',
    'rds_systems{state="removed"} 2',
  ])
    assert.ok(text.split('\n').includes(line), `${line} in\n${text.slice(0, 2_000)}`);
});
