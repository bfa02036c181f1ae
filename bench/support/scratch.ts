import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Service, startService } from '../../test/support/service.ts';

/** The processes and directories of one workload, all gone after `dispose`. */
export class Scratch {
  private readonly children: ChildProcess[] = [];
  private readonly directories: string[] = [];

  async directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'rds-bench-'));
    this.directories.push(path);
    return path;
  }

  /** Keeps hold of a child process; answers it. */
  watch<T extends ChildProcess>(child: T): T {
    this.children.push(child);
    return child;
  }

  /** Starts the service on a directory of this scratch. */
  async service(dataDir: string): Promise<Service> {
    const service = await startService({ dataDir });
    this.watch(service.process);
    return service;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.children.splice(0).map(ended));
    await Promise.all(this.directories.splice(0).map((path) => rm(path, { recursive: true, force: true })));
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
