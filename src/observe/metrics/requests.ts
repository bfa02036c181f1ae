import { Buckets, Labelled, type MetricReport, OTHER, type Sample, SECONDS } from './series.ts';

/** Methods that the service answers. Others are `other`. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', OTHER] as const;
const methodNumbers: ReadonlyMap<string, number> = new Map(methods.map((method, at) => [method, at]));
const OTHER_NUMBER = methods.length - 1;
/** Route of addresses that the service does not have. */
const UNKNOWN = 'unknown';
const MAX_STATUS = 1_000;

/** What is counted for a route. */
interface RouteSeries {
  readonly seconds: Buckets;
  /** By `methodNumber * MAX_STATUS + status`: no text is made for a request. */
  readonly counts: Map<number, number>;
}

/** Counts requests by route, method and status, and their time by route. */
export class RequestMetrics {
  readonly #routes = new Labelled<RouteSeries>(() => ({ seconds: new Buckets(SECONDS), counts: new Map() }));

  observe(route: string | undefined, method: string, status: number, ms: number): void {
    const { seconds, counts } = this.#routes.of(route ?? UNKNOWN);
    seconds.observe(ms / 1_000);
    const key = (methodNumbers.get(method) ?? OTHER_NUMBER) * MAX_STATUS + status;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  report(): MetricReport[] {
    const counts: Sample[] = [];
    const seconds: Sample[] = [];
    for (const [route, series] of this.#routes.entries()) {
      for (const [key, value] of series.counts) {
        const method = methods[Math.floor(key / MAX_STATUS)] as string;
        counts.push({ labels: { route, method, status: key % MAX_STATUS }, value });
      }
      seconds.push(...series.seconds.samples('rds_request_seconds', { route }));
    }
    const shared = { aggregator: 'sum' } as const;
    return [
      { ...shared, name: 'rds_requests_total', help: 'Requests by route, method and status.', type: 'counter', values: counts },
      {
        ...shared,
        name: 'rds_request_seconds',
        help: 'Time of requests in seconds, by route.',
        type: 'histogram',
        values: seconds,
      },
    ];
  }
}
