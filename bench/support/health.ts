import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceProcess } from '../../test/support/service-process.ts';
import { memoryOf } from './memory.ts';

/** Resources of a service at one moment, in bytes or counts. */
export interface Health {
  /** Live objects, after a garbage collection. */
  heap: number;
  /** External buffers, after a garbage collection. */
  buffers: number;
  resident: number;
  /** Open files and sockets. */
  descriptors: number;
  sockets: number;
  /** Size of the write-ahead logs of the embedded engine. */
  wal: number;
}

/** Preloaded into the service: on a signal, collects garbage and writes the remaining sizes to a file. Threads receive no signals. */
const COLLECTOR = `
  import { renameSync, writeFileSync } from 'node:fs';
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    process.on('SIGUSR2', () => {
      collect();
      collect();
      const { heapUsed, external } = process.memoryUsage();
      writeFileSync(process.env.BENCH_HEAP + '.new', JSON.stringify({ heap: heapUsed, buffers: external }));
      renameSync(process.env.BENCH_HEAP + '.new', process.env.BENCH_HEAP);
    });
  }`;

/** Settings of a service whose health is measured. @param file to which it writes its heap sizes */
export const collecting = (file: string): Record<string, string> => ({
  BENCH_HEAP: file,
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(COLLECTOR).toString('base64')}`,
});

/** Returns the resources of a service. @param file as in `collecting` */
export async function healthOf({ process, dataDir }: ServiceProcess, file: string): Promise<Health> {
  const before = changedAt(file);
  process.kill('SIGUSR2');
  for (const deadline = Date.now() + 10_000; changedAt(file) === before; await wait(10))
    if (Date.now() > deadline) throw new Error('the service does not say how large its heap is');
  const { heap, buffers } = JSON.parse(readFileSync(file, 'utf8')) as Pick<Health, 'heap' | 'buffers'>;
  const open = descriptorsOf(process.pid ?? 0);
  return {
    heap,
    buffers,
    resident: memoryOf(process.pid ?? 0)?.resident ?? 0,
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
    wal: walOf(dataDir),
  };
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function descriptorsOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).flatMap((fd) => {
    try {
      return [readlinkSync(join(directory, fd))];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}

/** Returns the size of the write-ahead logs of the embedded engine, in bytes. */
export const walOf = (dataDir: string): number =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-wal'))
    .reduce((sum, name) => sum + (statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0), 0);
