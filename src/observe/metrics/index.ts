export type { Scrape } from './listener.ts';
export { ProcessMetrics, type ProcessReport, type SystemCounts } from './process-metrics.ts';
export { renderReports } from './render.ts';
export { Scrapes } from './scrapes.ts';
export { gauge, type MetricReport } from './series.ts';
