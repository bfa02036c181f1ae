import type { MetricReport, ProcessReport } from '../observe/metrics/index.ts';

const none: ProcessReport['systems'] = { open: [], active: 0, held: 0, removed: 0 };

/** Returns a report of a process that has no systems open. */
export const reportOf = (metrics: readonly MetricReport[]): ProcessReport => ({ metrics, systems: none });

/** Returns what of a report only grows: it stays true when the process is gone. */
export const countersOf = ({ metrics }: ProcessReport): ProcessReport =>
  reportOf(metrics.filter(({ type, aggregator }) => type !== 'gauge' && aggregator === 'sum'));

/** Adds reports of `countersOf`. */
export function sumOf(reports: readonly ProcessReport[]): ProcessReport {
  const metrics = new Map<string, MetricReport>();
  for (const metric of reports.flatMap((report) => report.metrics)) {
    const before = metrics.get(metric.name);
    metrics.set(metric.name, before ? { ...metric, values: added([...before.values, ...metric.values]) } : metric);
  }
  return reportOf([...metrics.values()]);
}

function added(samples: MetricReport['values']): MetricReport['values'] {
  const sums = new Map<string, MetricReport['values'][number]>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.metricName, sample.labels]);
    const before = sums.get(key);
    sums.set(key, before ? { ...before, value: before.value + sample.value } : sample);
  }
  return [...sums.values()];
}
