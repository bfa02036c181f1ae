/** Shared by the suites about custom functions: a service with a directory of functions, and calls. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { type Store, storeOf } from '../support/records.ts';
import { type Answer, type EngineName, type Service, startService } from '../support/service.ts';

export interface CallOptions {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** A string is sent as it is; anything else as JSON. */
  body?: unknown;
  /** Another application id. */
  appId?: string;
}

export interface Operator extends Store {
  /** Directory of the functions. */
  directory: string;
  /** Writes files of functions. */
  deploy(files: Record<string, string>): void;
  /** Sends an anonymous call. */
  send(fn: string, options?: CallOptions): Promise<Answer>;
  /** Calls a function, which must succeed; returns the result. */
  result(fn: string, body?: unknown): Promise<any>;
}

/** Starts a service with these functions for the surrounding `describe`. */
export function useFunctions(engine: EngineName, files: Record<string, string>, env: Record<string, string> = {}): Operator {
  const directory = mkdtempSync(join(tmpdir(), 'rds-test-functions-'));
  const deploy = (added: Record<string, string>) => {
    for (const [name, text] of Object.entries(added)) {
      mkdirSync(join(directory, name, '..'), { recursive: true });
      writeFileSync(join(directory, name), text);
    }
  };
  deploy(files);
  let running: Service | undefined;
  before(async () => {
    running = await startService({ engine, env: { FUNCTIONS_DIR: directory, ...env } });
  });
  after(async () => {
    await running?.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, deploy, ...callsOf(() => running as Service) };
}

/** Returns requests to the functions of a service. */
export function callsOf(service: () => Service): Omit<Operator, 'directory' | 'deploy'> {
  const send: Operator['send'] = async (
    fn,
    { method = 'POST', headers = {}, query = {}, body, appId = service().appId } = {},
  ) => {
    const address = new URL(`${service().url}/functions/${appId}/${fn}?${new URLSearchParams(query)}`);
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(address, { method, headers: { ...type, ...headers }, body: sent ?? null });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  return {
    ...storeOf(service),
    send,
    async result(fn, body = {}) {
      const answer = await send(fn, { body });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(Object.keys(answer.body), ['result']);
      return answer.body.result;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Asserts that a function has failed: 400 with the text alone. */
export function assertFailed({ status, body, text }: Answer, error: string | RegExp): void {
  assert.equal(status, 400, text);
  assert.deepEqual(Object.keys(body), ['error'], text);
  if (typeof error === 'string') assert.equal(body.error, error);
  else assert.match(body.error, error);
}
