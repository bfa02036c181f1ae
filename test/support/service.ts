/**
 * Starts the service as a user would (its own process, a new data directory) and stops it again. Every black-box suite uses this, so that tests do
 * not depend on the inside of the program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import { type Data, type EngineName, makeDatabase, makeDirectory, removeDirectory, settingsOf } from './data.ts';
import { request } from './request.ts';

export { anyEngine, type EngineName, engines, sampledEngines } from './data.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type As = 'master' | 'apiKey' | 'anonymous';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

export interface CallOptions {
  as?: As;
  /** Sends this session token, and no key. */
  session?: string;
  /** A string is sent unchanged; anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Query parameters; objects are sent as URL-encoded JSON text. */
  query?: Record<string, unknown>;
}

export interface Service extends Data {
  url: string;
  appId: string;
  masterKey: string;
  apiKey: string;
  /** The settings with which another process uses the same data. */
  settings: Record<string, string>;
  process: ChildProcess;
  output(): string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends SIGTERM and waits for the exit; returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL: the crash tests' power cut. Keeps the data. */
  kill(): Promise<void>;
}

export interface StartOptions extends Partial<Data> {
  /** The program to start, if not the one of these sources. */
  program?: string;
  engine?: EngineName;
  env?: Record<string, string>;
  /** Hashes passwords at their full cost, for tests of that cost. Otherwise hashing takes a third of the time of suites about users. */
  hasRealPasswords?: boolean;
}

const cheapPasswords = `--import=${new URL('./cheap-passwords.ts', import.meta.url).href}`;

/** The compile cache of Node, which later starts reuse if the run sets one. */
export const compileCache: Record<string, string> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** Stops of running processes. A process left running by a failed case would keep the test file from ending. */
const running = new Set<() => Promise<unknown>>();
after(() => Promise.all([...running].map((stop) => stop())));

/** Ends a process after the tests of the file, unless a test has ended it before. @param stop may be called again */
export function endWithTests(child: ChildProcess, stop: () => Promise<unknown>): void {
  running.add(stop);
  child.once('exit', () => running.delete(stop));
}

/** Credentials of the service's first system. */
const credentials = { appId: 'testapp', masterKey: 'test-master-key', apiKey: 'test-api-key' };

/**
 * Starts a service on a free port and resolves when it listens. With given data, it is one of possibly many services on that data and leaves it in
 * place; otherwise it creates its own data and removes it when it stops.
 */
export async function startService(options: StartOptions = {}): Promise<Service> {
  const { engine = 'sqlite', env = {} } = options;
  // A first start with other credentials creates another system.
  const isUsual = !['APP_ID', 'MASTER_KEY', 'API_KEY'].some((name) => name in env);
  const dataDir = options.dataDir ?? (await makeDirectory(engine, isUsual));
  const own = engine === 'postgres' && !options.database ? await makeDatabase(isUsual) : undefined;
  const database = options.database ?? own;
  const settings = settingsOf({ dataDir, ...(database && { database }) });
  const { appId, masterKey, apiKey } = credentials;
  // Otherwise the first service of the run would build it.
  await runResource('console');
  const child = spawn(process.execPath, [options.program ?? main, 'start'], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      APP_ID: appId,
      MASTER_KEY: masterKey,
      API_KEY: apiKey,
      ...compileCache,
      ...settings,
      ...env,
      NODE_OPTIONS: [...(options.hasRealPasswords ? [] : [cheapPasswords]), env.NODE_OPTIONS ?? ''].join(' '),
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
  let stopped: Promise<number | null> | undefined;
  const end = async () => {
    child.kill('SIGTERM');
    const code = await exited;
    await own?.drop();
    if (options.dataDir === undefined) await removeDirectory(dataDir);
    return code;
  };
  const stop = () => (stopped ??= end());
  endWithTests(child, stop);
  return {
    url,
    appId,
    masterKey,
    apiKey,
    dataDir,
    ...(database && { database }),
    settings,
    process: child,
    output: () => output,
    call: (method, path, callOptions = {}) => call({ url, appId, masterKey, apiKey }, method, path, callOptions),
    stop,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function call(
  service: Pick<Service, 'url' | 'appId' | 'masterKey' | 'apiKey'>,
  method: string,
  path: string,
  { as = 'master', session, body, headers = {}, query }: CallOptions,
): Promise<Answer> {
  const address = new URL(path, service.url);
  for (const [name, value] of Object.entries(query ?? {}))
    address.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  const sent: Record<string, string> = { 'X-Platform-Application-Id': service.appId };
  if (session !== undefined) sent['X-Platform-Session-Token'] = session;
  else if (as === 'master') sent['X-Platform-Master-Key'] = service.masterKey;
  else if (as === 'apiKey') sent['X-Platform-API-Key'] = service.apiKey;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  const sentBody = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const { status, headers: received, text } = await request(address, method, { ...sent, ...headers }, sentBody);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status, headers: received, text, body: parsed };
}
