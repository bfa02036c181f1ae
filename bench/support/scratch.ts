import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '../../test/support/service-process.ts';

/** The processes and directories of one workload; `dispose` removes all of them. */
export class Scratch {
  private readonly children: ChildProcess[] = [];
  private readonly directories: string[] = [];
  private readonly closing: { close(): Promise<void> }[] = [];

  async directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'rds-bench-'));
    this.directories.push(path);
    return path;
  }

  /** Registers a child process for termination, and returns it. */
  watch<T extends ChildProcess>(child: T): T {
    this.children.push(child);
    return child;
  }

  /** Registers an object to be closed at the end. */
  keep(closing: { close(): Promise<void> }): void {
    this.closing.push(closing);
  }

  /**
   * Starts the service on a directory of this scratch.
   * @param database of PostgreSQL, if it is to be used
   * @param program `main.ts` of another version
   * @param env additional settings
   */
  async service(
    dataDir: string,
    database?: { url: string },
    program?: string,
    env: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const engine = database ? 'postgres' : 'sqlite';
    const service = await startServiceProcess({
      dataDir,
      engine,
      env,
      ...(database && { database }),
      ...(program && { program }),
    });
    this.watch(service.process);
    return service;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.children.splice(0).map(ended));
    await Promise.all(this.closing.splice(0).map((each) => each.close()));
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
