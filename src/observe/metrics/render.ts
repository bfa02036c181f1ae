import { AggregatorRegistry, type Registry } from 'prom-client';
import { type Format, formats } from './format.ts';
import type { ProcessReport } from './process-metrics.ts';
import { gauge, type MetricReport } from './series.ts';

/** Joins what processes report into the text of a scrape. Never empty. */
export function renderReports(reports: readonly ProcessReport[], format: Format): Promise<string> {
  const all = [...reports.map(({ metrics }) => metrics), [systemsOf(reports)]].map((metrics) =>
    format === 'openMetrics' ? metrics.map(withoutSuffix) : metrics,
  );
  return aggregate(all, formats[format]).metrics();
}

/** The second parameter is missing in the types of the package. */
const aggregate = AggregatorRegistry.aggregate as unknown as (
  reports: readonly (readonly MetricReport[])[],
  contentType: string,
) => Registry;

/** prom-client appends `_total` in OpenMetrics, and removes it from the names of metrics of its own classes only. */
const withoutSuffix = (metric: MetricReport): MetricReport =>
  metric.type === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric;

/** A system is open if it is in any of the processes, so they are not summed. */
function systemsOf(reports: readonly ProcessReport[]): MetricReport {
  const open = new Set(reports.flatMap(({ systems }) => systems.open));
  const most = (of: 'active' | 'held' | 'removed') => Math.max(0, ...reports.map(({ systems }) => systems[of]));
  return gauge({ name: 'rds_systems', help: 'Systems by state.', label: 'state' }, 'sum', [
    ['open', open.size],
    ['closed', Math.max(0, most('active') - open.size)],
    ['held', most('held')],
    ['removed', most('removed')],
  ]);
}
