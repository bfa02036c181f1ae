/**
 * Starts services and calls them over HTTP, so that black-box suites do not depend on the inside of the program. A service is one of several in the
 * process of a host (hosts/services.ts); suites of what is the process's start one that has its own (service-process.ts).
 */
import { readFileSync, statSync } from 'node:fs';
import { after } from 'node:test';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import { isClusterSuite } from './cluster-suites.ts';
import { type Data, type EngineName, makeDatabase, makeDirectory, removeDirectory, settingsOf } from './data.ts';
import { type Host, hostOf, order } from './hosts/host.ts';
import { request } from './request.ts';

export { anyEngine, type EngineName, engines, sampledEngines } from './data.ts';

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
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Returns what its process has written since it was started: log lines, and those of other services of the same host. */
  output(): string;
  /** Finishes the requests in flight, ends the service, and removes its data unless it was given. */
  stop(): Promise<unknown>;
}

export interface StartOptions extends Partial<Data> {
  engine?: EngineName;
  env?: Record<string, string>;
  /** Whether a database that is made for it is in cluster mode; by default as drawn for the calling suite (cluster-suites.ts). */
  isCluster?: boolean;
}

/** The compile cache of Node, which later starts reuse if the run sets one. */
export const compileCache: Record<string, string> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** Stops of running services. One left running by a failed case would keep the test file from ending. */
const running = new Set<() => Promise<unknown>>();
after(() => Promise.all([...running].map((stop) => stop())));

/** Returns what stops a service, called at the latest after the tests of the file. @param end called once */
export function stoppedWithTests<T>(end: () => Promise<T>): () => Promise<T> {
  let stopped: Promise<T> | undefined;
  const stop = () => {
    running.delete(stop);
    stopped ??= end();
    return stopped;
  };
  running.add(stop);
  return stop;
}

/** Credentials of the service's first system. */
const credentials = { appId: 'testapp', masterKey: 'test-master-key', apiKey: 'test-api-key' };

/** Where a service keeps its data, and what it is started with. */
export interface Prepared {
  readonly data: Data;
  /** All variables of the service. */
  readonly env: Record<string, string>;
  /** Removes the data unless it was given. */
  remove(): Promise<void>;
  /** @param url the address of the service */
  clientOf(url: string): Omit<Service, 'stop' | 'output'>;
}

/** Prepares the start of a service: its data, if not given, and its settings. */
export async function prepareStart({
  engine = 'sqlite',
  env = {},
  isCluster = isClusterSuite(),
  ...options
}: StartOptions): Promise<Prepared> {
  // A first start with other credentials creates another system.
  const isUsual = !['APP_ID', 'MASTER_KEY', 'API_KEY'].some((name) => name in env);
  const dataDir = options.dataDir ?? (await makeDirectory(engine, isUsual));
  const own = engine === 'postgres' && !options.database ? await makeDatabase(isUsual, isCluster) : undefined;
  const database = options.database ?? own;
  const data: Data = { dataDir, ...(database && { database }) };
  const settings = settingsOf(data);
  // Otherwise the first service of the run would build it.
  await runResource('console');
  const { appId, masterKey, apiKey } = credentials;
  const keys = { APP_ID: appId, MASTER_KEY: masterKey, API_KEY: apiKey };
  return {
    data,
    env: { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ...keys, ...settings, ...env },
    async remove() {
      await own?.drop();
      if (options.dataDir === undefined) await removeDirectory(dataDir);
    },
    clientOf: (url) => ({
      ...{ url, ...credentials, ...data, settings },
      call: (method, path, callOptions = {}) => call({ url, ...credentials }, method, path, callOptions),
    }),
  };
}

/**
 * Starts a service on a free port and resolves when it listens. With given data, it leaves that in place; otherwise it creates its own data and
 * removes it when it stops. Without the runner, and with settings of a process, it has a process of its own.
 */
export async function startService({ isCluster = isClusterSuite(), ...given }: StartOptions = {}): Promise<Service> {
  const options = { ...given, isCluster };
  const isOfProcess = ['NODE_OPTIONS', 'WEB_CONCURRENCY'].some((name) => options.env?.[name] !== undefined);
  const host = isOfProcess ? undefined : await hostOfFile();
  if (host === undefined) return (await import('./service-process.ts')).startServiceProcess(options);
  const { env, remove, clientOf } = await prepareStart(options);
  const logStart = statSync(host.logFile).size;
  const url = await order(host, 'POST', '/', env);
  const stop = stoppedWithTests(async () => {
    await order(host, 'DELETE', `/${new URL(url).port}`);
    await remove();
  });
  return { ...clientOf(url), output: () => readFileSync(host.logFile).toString('utf8', logStart), stop };
}

let ownHost: Promise<Host> | undefined;

/** Returns the host of this test file, without what an aborted one has left running there. */
function hostOfFile(): Promise<Host | undefined> {
  ownHost ??= hostOf('services')?.then(async (host) => {
    await order(host, 'DELETE', '/');
    return host;
  });
  return Promise.resolve(ownHost);
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
