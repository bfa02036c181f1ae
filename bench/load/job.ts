import { performance } from 'node:perf_hooks';
import { Connection, none } from './connection.ts';

export interface Job {
  kind: 'requests';
  host: string;
  port: number;
  /** Complete requests as text, sent in turn; connections start at different positions. */
  requests: string[];
  connections: number;
  /** Duration of the measurement; `warmup` seconds precede it. */
  seconds: number;
  warmup: number;
  /** Requests per second over all connections; without it, each connection sends again as soon as it has its answer. */
  rate?: number;
  /** Whether each request is sent once, by one connection: the measurement ends early after the last one. */
  isOnce?: boolean;
}

export interface LoadResult {
  /** Answers during the measurement. */
  requests: number;
  /** All answers, including those of the warm-up. */
  answered: number;
  perSecond: number;
  /** Latencies in milliseconds; at a fixed rate they count from the time the request was due. */
  p50: number;
  p99: number;
  /** Answers by status, other than 200 and 201. */
  failures: Record<string, number>;
}

/** Executes a job. */
export async function runJob(job: Job): Promise<LoadResult> {
  const requests = job.requests.map((text) => Buffer.from(text));
  const begin = performance.now() + job.warmup * 1000;
  const end = begin + job.seconds * 1000;
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  let answered = 0;
  const record = (due: number, status: number) => {
    const now = performance.now();
    answered++;
    if (status !== 200 && status !== 201) failures[status] = (failures[status] ?? 0) + 1;
    if (now >= begin && now <= end) latencies.push(now - due);
  };
  await Promise.all(Array.from({ length: job.connections }, (_, index) => runConnection(job, requests, index, end, record)));
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    answered,
    perSecond: latencies.length / job.seconds,
    p50: at(0.5),
    p99: at(0.99),
    failures,
  };
}

type Observe = (due: number, status: number) => void;

function runConnection(job: Job, requests: Buffer[], index: number, end: number, record: Observe): Promise<void> {
  const interval = job.rate ? (1000 * job.connections) / job.rate : 0;
  return new Promise((resolve, reject) => {
    const connection = new Connection(job.host, job.port, reject);
    let turn = Math.floor((requests.length / job.connections) * index);
    let due = performance.now() + (interval / job.connections) * index;
    const next = () => {
      if (performance.now() >= end || (job.isOnce && turn === requests.length)) {
        connection.close();
        resolve();
        return;
      }
      const request = requests[turn++ % requests.length] as Buffer;
      // A timer may fire slightly early; a late start counts as delay of the server, since its previous answer caused it.
      const from = interval === 0 ? performance.now() : Math.min(due, performance.now());
      connection.send(request, none, (status) => {
        record(from, status);
        due += interval;
        const wait = due - performance.now();
        if (wait > 0) setTimeout(next, wait);
        else next();
      });
    };
    const wait = due - performance.now();
    if (wait > 0) setTimeout(next, wait);
    else next();
  });
}
