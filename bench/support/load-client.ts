import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, LoadResult } from '../load/job.ts';
import type { Scratch } from './scratch.ts';
import type { Prepared, Target } from './target.ts';

export type { LoadResult } from '../load/job.ts';
export type LoadOptions = Pick<Job, 'connections' | 'seconds' | 'warmup' | 'rate'>;

/** The handle of a load generator process. */
export class LoadClient {
  private readonly child: ChildProcess;

  constructor(scratch: Scratch) {
    this.child = scratch.watch(fork(fileURLToPath(new URL('../load.ts', import.meta.url)), { serialization: 'advanced' }));
  }

  /** Sends the requests in turn at `target`; throws when any answer was neither 200 nor 201. */
  async run(target: Target, requests: Prepared[], options: LoadOptions): Promise<LoadResult> {
    const { hostname, port } = new URL(target.url);
    const job: Job = {
      host: hostname,
      port: Number(port),
      requests: requests.map((request) => toText(target, request)),
      ...options,
    };
    const answer = new Promise<{ result?: LoadResult; error?: string }>((resolve) => this.child.once('message', resolve));
    this.child.send(job);
    const { result, error } = await answer;
    if (!result) throw new Error(`${target.name}: the load generator failed: ${error}`);
    const failed = Object.entries(result.failures).map(([status, times]) => `${times} × ${status}`);
    if (failed.length > 0)
      throw new Error(`${target.name}: ${requests[0]?.method} ${requests[0]?.path} answered ${failed.join(', ')}`);
    return result;
  }
}

function toText(target: Target, { method, path, body }: Prepared): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers: Record<string, string> = { Host: new URL(target.url).host, ...target.headers };
  if (body !== undefined)
    Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
