import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, LoadResult } from '../load/job.ts';
import type { SteadyReads, SteadyResult } from '../load/steady-reads.ts';
import type { Transfers, TransfersResult } from '../load/transfers.ts';
import type { Scratch } from './scratch.ts';
import type { Prepared, Target } from './target.ts';

export type { LoadResult } from '../load/job.ts';
export type LoadOptions = Pick<Job, 'connections' | 'seconds' | 'warmup' | 'rate' | 'isOnce'>;
export type TransferOptions = Pick<Transfers, 'body' | 'count' | 'connections'>;

/** Handle of a load generator process. */
export class LoadClient {
  private readonly child: ChildProcess;

  constructor(scratch: Scratch) {
    this.child = scratch.watch(fork(fileURLToPath(new URL('../load.ts', import.meta.url)), { serialization: 'advanced' }));
  }

  /** Sends the requests to `target` in turn; throws if any answer is neither 200 nor 201. */
  async run(target: Target, requests: Prepared[], options: LoadOptions): Promise<LoadResult> {
    const { hostname, port } = new URL(target.url);
    const job: Job = {
      kind: 'requests',
      host: hostname,
      port: Number(port),
      requests: requests.map((request) => toText(target, request)),
      ...options,
    };
    return this.ask(target, requests[0], job);
  }

  /** Sends `count` large requests, or requests with large answers. @returns seconds; throws as `run` does */
  async transfer(target: Target, requests: Prepared[], options: TransferOptions): Promise<number> {
    const { hostname, port } = new URL(target.url);
    const heads = requests.map((request) => toHead(target, request, options.body));
    const job: Transfers = { kind: 'transfers', host: hostname, port: Number(port), heads, ...options };
    return (await this.ask<TransfersResult>(target, requests[0], job)).seconds;
  }

  /** Sends the requests in turn, one each `intervalMs`, until the returned function is called; this throws as `run` does. */
  readSteadily(target: Target, requests: Prepared[], intervalMs: number): () => Promise<SteadyResult> {
    const { hostname, port } = new URL(target.url);
    const job: SteadyReads = {
      kind: 'steady',
      host: hostname,
      port: Number(port),
      requests: requests.map((request) => toText(target, request)),
      intervalMs,
    };
    this.child.send(job);
    return () => this.ask(target, requests[0], 'stop');
  }

  private async ask<T extends LoadResult | TransfersResult | SteadyResult>(
    target: Target,
    first: Prepared | undefined,
    job: Job | Transfers | 'stop',
  ): Promise<T> {
    const answer = new Promise<{ result?: T; error?: string }>((resolve) => this.child.once('message', resolve));
    this.child.send(job);
    const { result, error } = await answer;
    if (!result) throw new Error(`${target.name}: the load generator failed: ${error}`);
    const failed = Object.entries(result.failures).map(([status, times]) => `${times} × ${status}`);
    if (failed.length > 0) throw new Error(`${target.name}: ${first?.method} ${first?.path} answered ${failed.join(', ')}`);
    return result;
  }
}

/** Returns the head of a request for a body of this many bytes. */
function toHead(target: Target, { method, path }: Prepared, bytes: number): string {
  const headers: Record<string, string> = { Host: new URL(target.url).host, ...target.headers };
  if (bytes > 0) Object.assign(headers, { 'Content-Type': 'image/jpeg', 'Content-Length': bytes });
  return headText(method, path, headers);
}

function toText(target: Target, { method, path, body, headers: own }: Prepared): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers: Record<string, string> = { Host: new URL(target.url).host, ...target.headers, ...own };
  if (body !== undefined)
    Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  return headText(method, path, headers) + text;
}

function headText(method: string, path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
