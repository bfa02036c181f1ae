/** Starts hosts for the run, and leases each to one test file at a time. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recording } from '../statements.ts';
import type { Host, HostKind } from './host.ts';

interface Lease {
  readonly kind: HostKind;
  readonly host: Promise<Host>;
  /** The process of the test file that has the host. */
  pid: number;
  close(): Promise<void>;
}

const leases = new Set<Lease>();

/** Leases a host to a test file, until its process has ended. */
export function leaseHost(kind: HostKind, pid: number): Promise<Host> {
  const free = [...leases].find((lease) => lease.kind === kind && !isAlive(lease.pid));
  if (free) free.pid = pid;
  return (free ?? startHost(kind, pid)).host;
}

export async function closeHosts(): Promise<void> {
  await Promise.all([...leases].map((lease) => lease.close()));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function startHost(kind: HostKind, pid: number): Lease {
  const started = forkHost(kind);
  const lease: Lease = {
    ...{ kind, pid },
    host: started.then(({ host }) => host),
    async close() {
      leases.delete(lease);
      const { child, directory } = await started;
      child.disconnect();
      await once(child, 'exit');
      await rm(directory, { recursive: true });
    },
  };
  leases.add(lease);
  started.then(({ child, host }) =>
    child.once('exit', (code) => {
      // Closed ones are deleted before.
      if (leases.delete(lease)) console.error(`the host of ${kind} ended with ${code}:\n${endOf(host.logFile)}`);
    }),
  );
  return lease;
}

async function forkHost(kind: HostKind): Promise<{ child: ChildProcess; host: Host; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'rds-test-host-'));
  const logFile = join(directory, 'log');
  const log = openSync(logFile, 'a');
  const cheapPasswords = new URL('../cheap-passwords.ts', import.meta.url).href;
  // Without the runner's context, which would make a test file of it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = fork(fileURLToPath(new URL(`./${kind}.ts`, import.meta.url)), {
    env,
    execArgv: ['--disable-warning=ExperimentalWarning', `--import=${cheapPasswords}`, recording],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const port = await Promise.race([
    once(child, 'message').then(([address]) => address.port),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the host of ${kind} ended with ${code}:\n${endOf(logFile)}`))),
  ]);
  return { child, host: { url: `http://127.0.0.1:${port}`, logFile }, directory };
}

const endOf = (logFile: string) => readFileSync(logFile, 'utf8').slice(-5_000);
