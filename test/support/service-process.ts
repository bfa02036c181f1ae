/** Starts the service as an operator does, as a process of its own: for suites of signals, crashes, log lines, memory and several processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isClusterDatabase } from '../../src/storage/postgres/testing/coordinator/cluster-mode.ts';
import { compileCache, prepareStart, type Service, type StartOptions, stoppedWithTests } from './service.ts';
import { recording, recordingVariable } from './statements.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const cheapPasswords = `--import=${new URL('./cheap-passwords.ts', import.meta.url).href}`;

export interface ServiceProcess extends Service {
  process: ChildProcess;
  /** Sends SIGTERM and waits for the exit; returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL: the crash tests' power cut. Keeps the data. */
  kill(): Promise<void>;
}

export interface ProcessOptions extends StartOptions {
  /** The program to start, if not the one of these sources. */
  program?: string;
  /** Hashes passwords at their full cost, for tests of that cost. Otherwise hashing takes a third of the time of suites about users. */
  hasRealPasswords?: boolean;
}

/** Ends a process after the tests of the file, unless a test has ended it before: it would keep the file from ending. */
export function endWithTests(child: ChildProcess, end: () => Promise<unknown>): void {
  const stop = stoppedWithTests(async () => {
    if (child.exitCode === null && child.signalCode === null) await end();
  });
  child.once('exit', () => stop());
}

/**
 * Starts a service on a free port and resolves when it listens. With given data, it is one of possibly many services on that data and leaves it in
 * place; otherwise it creates its own data and removes it when it stops.
 * @throws Error with the output of the process, if it ends before it listens
 */
export async function startServiceProcess({
  program = main,
  hasRealPasswords = false,
  ...options
}: ProcessOptions = {}): Promise<ServiceProcess> {
  const { data, env, remove, clientOf } = await prepareStart(options);
  const isRecorded = isClusterDatabase(new URL(data.database?.url ?? 'none:').pathname.slice(1));
  const child = spawn(process.execPath, [program, 'start'], {
    cwd: data.dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      ...compileCache,
      ...env,
      ...(isRecorded ? recordingVariable() : {}),
      NODE_OPTIONS: [
        ...(hasRealPasswords ? [] : [cheapPasswords]),
        ...(isRecorded ? [recording] : []),
        env.NODE_OPTIONS ?? '',
      ].join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on (http:\/\/\S+)/.exec(output);
      if (found?.[1]) resolve(found[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    exited.then((code) => reject(new Error(`the service ended with ${code} before it listened:\n${output}`)));
  });
  const stop = stoppedWithTests(async () => {
    child.kill('SIGTERM');
    const code = await exited;
    await remove();
    return code;
  });
  return {
    ...clientOf(url),
    process: child,
    output: () => output,
    stop,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
