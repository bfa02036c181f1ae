/** Runs the program as an operator does: as a separate process, with only the given environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import { compileCache } from '../support/service.ts';
import { endWithTests } from '../support/service-process.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** An empty directory that is removed after the tests of the file. */
export async function temporary(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rds-edge-'));
  after(() => rm(path, { recursive: true, force: true }));
  return path;
}

function launch(args: readonly string[], env: Record<string, string>, cwd: string): { child: ChildProcess; run: Run } {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: Run = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    run.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    run.stderr += chunk.toString();
  });
  return { child, run };
}

/**
 * Runs the program to its end. It is killed after a minute; then the code is null.
 * @param isRead whether its standard output is read
 */
export async function runToEnd(args: readonly string[], env: Record<string, string>, cwd: string, isRead = true): Promise<Run> {
  const { child, run } = launch(args, env, cwd);
  if (!isRead) child.stdout?.destroy();
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { ...run, code };
}

/** Starts the service. Resolves when it listens, with its address and output. */
export async function startBare(env: Record<string, string>, cwd: string) {
  await runResource('console');
  const { child, run } = launch(['start'], { HOST: '127.0.0.1', PORT: '0', DATA_DIR: cwd, ...env }, cwd);
  const closed = once(child, 'close');
  endWithTests(child, async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const deadline = Date.now() + 30_000;
  let url: string | undefined;
  while (url === undefined) {
    url = /listening on (http:\/\/\S+)/.exec(run.stdout + run.stderr)?.[1];
    if (url === undefined && (child.exitCode !== null || Date.now() > deadline)) {
      child.kill('SIGKILL');
      throw new Error(`the service did not listen:\n${run.stdout}${run.stderr}`);
    }
    if (url === undefined) await wait(20);
  }
  return {
    url,
    child,
    output: () => run.stdout + run.stderr,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await closed) as [number | null];
      return code;
    },
  };
}
