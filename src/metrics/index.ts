export type { AppMetrics } from './app-metrics.ts';
export { createMetrics, listenForScrapes } from './start.ts';
