/**
 * Starts the service as a user would (its own process, a fresh data directory) and stops it again.
 * Every black-box suite goes through here, so that no test knows the inside of the program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The engines every record and query suite runs on. */
export const engines = ['sqlite'] as const;
export type EngineName = (typeof engines)[number];

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
  /** A string is sent as it is; anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Query parameters; objects are sent as JSON text, URL-encoded. */
  query?: Record<string, unknown>;
}

export interface Service {
  url: string;
  appId: string;
  masterKey: string;
  apiKey: string;
  dataDir: string;
  process: ChildProcess;
  output(): string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** SIGTERM, then waits for the exit; answers the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL: the crash tests' power cut. Keeps the data directory. */
  kill(): Promise<void>;
}

export interface StartOptions {
  engine?: EngineName;
  env?: Record<string, string>;
  /** Starts on an existing directory and keeps it afterwards. */
  dataDir?: string;
}

/** Starts a service on a free port and resolves once it says that it listens. */
export async function startService(options: StartOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'rds-test-')));
  const appId = 'testapp';
  const masterKey = 'test-master-key';
  const apiKey = 'test-api-key';
  const child = spawn(process.execPath, [main, 'start'], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      APP_ID: appId,
      MASTER_KEY: masterKey,
      API_KEY: apiKey,
      ...options.env,
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
  const keep = options.dataDir !== undefined;
  return {
    url,
    appId,
    masterKey,
    apiKey,
    dataDir,
    process: child,
    output: () => output,
    call: (method, path, callOptions = {}) => call({ url, appId, masterKey, apiKey }, method, path, callOptions),
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      if (!keep) await rm(dataDir, { recursive: true, force: true });
      return code;
    },
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
  const response = await fetch(address, {
    method,
    headers: { ...sent, ...headers },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
}
