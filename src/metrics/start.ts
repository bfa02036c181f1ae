import type { Logger } from '../observe/index.ts';
import { MetricsListener, type Scrape } from '../observe/metrics/listener.ts';
import type { AppMetrics, AppMetricsParts } from './app-metrics.ts';

/** Creates the metrics of a process. The package that makes the formats is loaded only for them. */
export async function createMetrics(parts: AppMetricsParts): Promise<AppMetrics> {
  const { AppMetrics } = await import('./app-metrics.ts');
  return new AppMetrics(parts);
}

/** Starts the listener of METRICS_PORT and logs its address. @throws OperatorError if it cannot listen */
export async function listenForScrapes(
  address: { readonly host: string; readonly port: number },
  scrape: Scrape,
  log: Logger,
): Promise<MetricsListener> {
  const listener = await MetricsListener.listen(address, scrape, (error) => log.error({ err: error }, 'a scrape failed'));
  log.info({ address: listener.address }, 'metrics are served');
  return listener;
}
