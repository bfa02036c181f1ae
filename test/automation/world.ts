/**
 * Shared vocabulary of the suites about triggers: a service with functions and a mail server, tables whose timeline is on, and a count of
 * every side effect, so that a test says what happened and that nothing else did.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { tracked } from '../audit/rows.ts';
import { callsOf, type Operator } from '../functions/operator.ts';
import type { FieldType, Json } from '../support/records.ts';
import { path } from '../support/records.ts';
import { anyEngine, type EngineName, engines, type Service, startService } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { type Counts, difference, plus } from './effects.ts';
import { functionFiles } from './functions.ts';
import { openStore, type StoreReader } from './store-reader.ts';

export interface World extends Omit<Operator, 'deploy' | 'directory'> {
  smtp(): Smtp;
  /** A new table whose timeline is on, which every user may write. Values are type names, `Pointer:Target` and `Relation:Target` too. */
  place(fields?: Record<string, string>): Promise<string>;
  /** Defines a trigger, which is deleted after the test; answers its id. Its `Name` is one of its own where it is left out. */
  trigger(definition: Json): Promise<string>;
  /** A definition that a test has made by other means: it is deleted after it, too. Answers its id. */
  adopt(triggerId: string): string;
  /**
   * Waits until all that was queued is done. Once the queue is empty nothing is to come: a write queues its jobs in its own commit, before it is
   * answered; and a job leaves the queue in the commit of the last of its effects, which also adds the jobs that follow: those of the records that
   * an action writes, of a message or a queued function, of the records that a schedule chose. A mail is taken, and a function has returned,
   * before the commit that ends its job. So one look at one moment suffices.
   */
  settle(): Promise<void>;
  queued(): Promise<Json[]>;
  /** Does something, waits until all that follows is done, and insists on what has come to be, and that it is all. Answers what `act` did. */
  effects<T>(act: () => Promise<T>, ...expected: readonly Counts[]): Promise<T>;
  /** Rows in the order of creation. */
  find(table: string, where?: object): Promise<Json[]>;
  /** Rows of `_syslogTriggers`. */
  log(where?: object): Promise<Json[]>;
  /** What functions were called with, in order. */
  calls(): Json[];
  /** Functions named `hold` wait until `release`. */
  hold(): void;
  release(): void;
  /** A field or more for a table that is there. */
  addFields(table: string, fields: Record<string, string>): Promise<void>;
}

/** Tables that are there, whose records are counted always. */
const watched = [
  'Accounts',
  'Contacts',
  'Sales',
  'Cases',
  'Tasks',
  'Emails',
  '_Notification',
  '_User',
  '_Role',
  '_Session',
  '_Trigger',
];

/** Milliseconds between two looks at the queue, at the most. */
const LONGEST_DELAY_MS = 16;
/** Milliseconds after the queue is empty in which nothing more may come to be. */
const AFTERWARDS_MS = 3;

export interface WorldOptions {
  env?: Record<string, string>;
  /** Whether nobody else is to be there: the suite counts what others may have left, or changes what they rely on. */
  isAlone?: boolean;
}

/** What a world stands on: the suites of a process share one where their settings are alike, since a start costs as much as dozens of tests. */
interface Ground {
  service: Service;
  smtp: Smtp;
  store: StoreReader;
  /** What functions noted of their calls. */
  calls(): Json[];
  /** While this file is there, functions named `hold` wait. */
  held: string;
  close(): Promise<void>;
}

const grounds = new Map<string, Promise<Ground>>();
after(() => Promise.all([...grounds.values()].map(async (ground) => (await ground).close())));

function groundOf(engine: EngineName, env: Record<string, string>): Promise<Ground> {
  const key = JSON.stringify([engine, env]);
  const ground = grounds.get(key) ?? layGround(engine, env);
  grounds.set(key, ground);
  return ground;
}

async function layGround(engine: EngineName, env: Record<string, string>): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-test-automation-'));
  const [called, held] = [join(directory, '_called.ndjson'), join(directory, '_held')];
  for (const [name, text] of functionFiles(called, held)) writeFileSync(join(directory, name), text);
  writeFileSync(called, '');
  const smtp = await startSmtp();
  const settings = { FUNCTIONS_DIR: directory, SMTP_URL: smtp.url, MAIL_FROM: 'crm@example.com', ...env };
  const service = await startService({ engine, env: settings });
  const store = await openStore(service);
  return {
    ...{ service, smtp, store, held, calls: linesOf(called) },
    async close() {
      await store.close();
      await service.stop();
      await smtp.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Reads a growing file of JSON lines; what was read before is not read again. */
function linesOf(file: string): () => Json[] {
  const lines: Json[] = [];
  let offset = 0;
  return () => {
    if (statSync(file).size === offset) return [...lines];
    const bytes = readFileSync(file);
    // A line that is being written has no end yet.
    const end = bytes.lastIndexOf('\n') + 1;
    for (const line of bytes.toString('utf8', offset, end).split('\n').filter(Boolean)) lines.push(JSON.parse(line));
    offset = end;
    return [...lines];
  };
}

/** A world for the surrounding `describe`. */
export function useWorld(engine: EngineName, { env = {}, isAlone = false }: WorldOptions = {}): World {
  let ground: Ground;
  before(async () => {
    ground = await (isAlone ? layGround(engine, env) : groundOf(engine, env));
  });
  after(async () => {
    if (isAlone) await ground.close();
  });
  const operator = callsOf(() => ground.service);
  const { call } = operator;
  const places = new Set<string>();
  const triggers = new Set<string>();
  afterEach(async () => {
    release();
    const requests = [...triggers].map((id) => ({ method: 'DELETE', path: path('_Trigger', id) }));
    if (requests.length > 0) await call('POST', '/platform/batch', { body: { requests } });
    triggers.clear();
    places.clear();
    // What a test leaves behind is none of the next one's.
    await settle();
  });
  const find: World['find'] = async (table, where = {}) => {
    const answer = await call('GET', path(table), { query: { where, limit: 100_000 } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.results;
  };
  const queued = () => ground.store.queued();
  const release = () => rmSync(ground.held, { force: true });
  const settle: World['settle'] = async () => {
    const deadline = Date.now() + 10_000;
    for (let delay = 1; !(await ground.store.isIdle()); delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
      if (Date.now() > deadline)
        assert.fail(`after 10 seconds there is still to be done: ${JSON.stringify(await queued()).slice(0, 2_000)}`);
      await wait(delay);
    }
  };
  const counts = async (): Promise<Counts> => ({
    ...(await ground.store.counts([...watched, ...places])),
    mails: ground.smtp.received.length,
    calls: ground.calls().length,
  });
  return {
    ...operator,
    find,
    queued,
    settle,
    calls: () => ground.calls(),
    smtp: () => ground.smtp,
    async place(fields = {}) {
      const name = await tracked(operator, typed({ Name: 'String', ...fields }));
      places.add(name);
      return name;
    },
    async trigger(definition) {
      const id = await operator.create('_Trigger', { Name: 'of a test', ...definition });
      triggers.add(id);
      return id;
    },
    adopt(id) {
      triggers.add(id);
      return id;
    },
    async effects(act, ...expected) {
      const before = await counts();
      const done = await act();
      await settle();
      const sum = plus(...expected);
      // Again a little later: what a job did after it left the queue would come then.
      for (const look of ['at the end', 'afterwards']) {
        if (look === 'afterwards') await wait(AFTERWARDS_MS);
        const found = difference(await counts(), before);
        if (!isDeepStrictEqual(found, sum)) assert.deepEqual(found, sum, await why(look));
      }
      return done;
    },
    log: (where = {}) => find('_syslogTriggers', where),
    hold: () => writeFileSync(ground.held, ''),
    release,
    async addFields(table, fields) {
      const answer = await call('PUT', `/platform/schemas/${table}`, { body: { fields: typed(fields) } });
      assert.equal(answer.status, 200, answer.text);
    },
  };

  /** The last errors, for the message of a failed test. */
  async function why(look: string): Promise<string> {
    const failed = await find('_syslogTriggers', { error: { $exists: true } });
    return `effects ${look}; the last errors: ${failed.map(({ error }) => error).slice(-5)}`;
  }
}

const typed = (fields: Record<string, string>): Record<string, FieldType> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const [type = '', targetClass] = text.split(':');
      return [name, { type, ...(targetClass !== undefined && { targetClass }) }];
    }),
  );

/** Describes a suite on each engine. */
export function onEachEngine(suite: (world: World, engine: EngineName) => void, options: WorldOptions = {}): void {
  for (const engine of engines) describe(engine, () => suite(useWorld(engine, options), engine));
}

/** The same on one engine: for what no engine has a say in. */
export function onAnyEngine(suite: (world: World, engine: EngineName) => void, options: WorldOptions = {}): void {
  for (const engine of anyEngine) describe(engine, () => suite(useWorld(engine, options), engine));
}
