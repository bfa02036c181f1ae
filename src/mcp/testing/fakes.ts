import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as ask, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import type { BearerVerdict } from '../../access/index.ts';
import { fail, serviceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { Observations } from '../../observe/index.ts';
import { noFiles } from '../../records/testing/context.ts';
import type { Store } from '../../storage/port.ts';
import { entryOf } from '../../storage/testing/entry.ts';
import { hashKey, hashPrefix, Registration, System } from '../../systems/system.ts';
import { defineTool, type Tool, type ToolCall } from '../definition/tool.ts';
import type { McpServices } from '../index.ts';

/** State of the fakes, for tests to read and change. */
export const seen = {
  /** Number of holders of the system. */
  held: 0,
  /** The last call of `Fine`. */
  called: undefined as ToolCall | undefined,
  /** Logged errors. */
  logged: [] as string[],
  /** Called when `Slow` or `Waiting` begins. */
  reached: () => {},
  /** Ends `Slow`. */
  finish: () => {},
};

class CountedSystem extends System {
  override hold(): void {
    seen.held++;
    super.hold();
  }
  override release(): void {
    seen.held--;
    super.release();
  }
}

const keyOf = (kind: 'master' | 'apiKey', key: string) => hashKey(hashPrefix('salt', 'app', kind), key);

/** The system `app` with the master key `mk` and the API key `ak`, without tables. */
const system = new CountedSystem(
  new Registration(
    entryOf('app', { name: 'App', masterKeyHash: keyOf('master', 'mk') }),
    [{ appId: 'app', name: 'first', hash: keyOf('apiKey', 'ak'), createdAt: 0 }],
    'salt',
  ),
  { schema: () => ({ version: 0, tables: new Map(), referencesTo: new Map() }) } as unknown as Store,
);

const tool = (name: string, run: (call: ToolCall) => Promise<JsonValue>): Tool =>
  defineTool({ name, group: 'records', description: name, input: {}, needs: ['mcp:view'], effect: 'read', about: 'T', run });

export const fakeTools: readonly Tool[] = [
  tool('Fine', async (call) => {
    seen.called = call;
    return { ok: true };
  }),
  tool('Refusing', async () => fail('objectNotFound')),
  tool('Buggy', async () => (null as unknown as { secret: string }).secret),
  tool('Huge', async () => 'x'.repeat(70_000)),
  tool('Slow', async () => {
    await new Promise<void>((resolve) => {
      seen.finish = resolve;
      seen.reached();
    });
    return { late: true };
  }),
  tool('Waiting', async ({ signal }) => {
    seen.reached();
    await once(signal, 'abort');
    return null;
  }),
];

/** Access tokens by their text; all others are unknown. */
const verdicts: Record<string, () => Promise<BearerVerdict>> = {
  ended: async () => ({ kind: 'ended' }),
  failing: () => Promise.reject(new Error('no keys')),
  away: () => Promise.reject(serviceError('unavailable')),
};

/** Dependencies of the agent tools. The system `lost` cannot be opened. */
export const fakeServices = {
  systems: {
    isKnown: (appId: string) => appId === 'app',
    tryAcquire: () => undefined,
    acquire(appId: string) {
      if (appId === 'lost') return Promise.reject(new Error('no disk'));
      if (appId !== 'app') return undefined;
      system.hold();
      return system;
    },
  },
  hooks: { observers: [], rules: new Map(), files: noFiles },
  log: pino({ level: 'silent' }),
  observations: new Observations(),
  conditions: {
    met: (what: string, _about: unknown, error: unknown) => void seen.logged.push(`${what}: ${error}`),
    over() {},
  },
  trustProxy: false,
  addresses: { base: 'http://base.example' },
  host: 'inside',
  bearer: async (_system: System, token: string) =>
    Object.hasOwn(verdicts, token) ? (verdicts[token] as () => Promise<BearerVerdict>)() : { kind: 'unknown' },
} as unknown as McpServices;

/** Waits until the system is released. */
export async function idle(): Promise<void> {
  for (let n = 0; n < 200 && seen.held > 0; n++) await wait(10);
  assert.equal(seen.held, 0);
}

export type Headers = Record<string, string>;
export const masterKey: Headers = { 'x-platform-master-key': 'mk' };
export const apiKey: Headers = { 'x-platform-api-key': 'ak' };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
  body: any;
}

/** Sends a POST with any headers and waits until the system is released. */
export function send(address: string, body: unknown, headers: Headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = ask(address, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece) => (text += piece));
      answer.on('end', async () => {
        await idle().catch(reject);
        const { statusCode = 0 } = answer;
        resolve({ status: statusCode, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** A JSON-RPC request. */
export const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

/** A call of a tool without arguments. */
export const calling = (name: string) => message('tools/call', { name, arguments: {} });
