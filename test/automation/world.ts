/**
 * Shared vocabulary of the suites about triggers: a service with functions and a mail server, tables whose timeline is on, and a count of
 * every side effect, so that a test says what happened and that nothing else did.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { tracked } from '../audit/rows.ts';
import { callsOf, type Operator } from '../functions/operator.ts';
import { type FieldType, type Json, path } from '../support/records.ts';
import { type CallOptions, type EngineName, engines, sampledEngines } from '../support/service.ts';
import type { Smtp } from '../support/smtp.ts';
import { type Counts, difference, plus } from './effects.ts';
import { deleteTriggers, type GroundName, useGround } from './ground.ts';

/** A write of a batch. */
export interface BatchItem {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: Json;
}

/** What became of it. */
export interface Outcome {
  success?: Json;
  error?: { code: number; error: string };
}

export interface World extends Omit<Operator, 'deploy' | 'directory'> {
  smtp(): Smtp;
  /** A new table whose timeline is on, which every user may write. Values are type names, `Pointer:Target` and `Relation:Target` too. */
  place(fields?: Record<string, string>): Promise<string>;
  /** Defines a trigger, which is deleted after the test; answers its id. Its `Name` is one of its own where it is left out. */
  trigger(definition: Json): Promise<string>;
  /** The same of several, in one request. */
  triggers(definitions: readonly Json[]): Promise<string[]>;
  /** Writes in one request; answers what became of each. */
  batch(requests: readonly BatchItem[], options?: CallOptions): Promise<Outcome[]>;
  /** How many records the tables hold, by name. */
  counts(tables: readonly string[]): Promise<Counts>;
  /** A record as the database has it. */
  stored(table: string, objectId: string): Promise<Json>;
  /** Records, made in one request. Answers their ids. */
  createAll(table: string, records: readonly Json[]): Promise<string[]>;
  /** A definition that a test has made by other means: it is deleted after it, too. Answers its id. */
  adopt(triggerId: string): string;
  /** Waits until all that was queued is done (`Ground.settle`). */
  settle(): Promise<void>;
  queued(): Promise<Json[]>;
  /** Executes `act`, waits until everything that follows is done, and asserts the given effects and no others. Returns the result of `act`. */
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

/** Milliseconds after the queue is empty in which nothing more may appear. */
const AFTERWARDS_MS = 3;

/** A world for the surrounding `describe`. */
export function useWorld(engine: EngineName, name?: GroundName): World {
  const ground = useGround(engine, name);
  const operator = callsOf(() => ground().service);
  const { call } = operator;
  const places = new Set<string>();
  const triggers = new Set<string>();
  afterEach(async () => {
    release();
    await deleteTriggers({ call }, triggers);
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
  const batch: World['batch'] = async (requests, options) => {
    const answer = await call('POST', '/platform/batch', { ...options, body: { requests } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const createAll: World['createAll'] = async (table, records) => {
    const outcomes = await batch(records.map((body) => ({ method: 'POST', path: path(table), body })));
    return outcomes.map(({ success, error }) => {
      assert.ok(success, error?.error);
      return success.objectId;
    });
  };
  const release = () => rmSync(ground().held, { force: true });
  const settle = () => ground().settle();
  const counts = async (): Promise<Counts> => ({
    ...(await ground().store.counts([...watched, ...places])),
    mails: ground().smtp.received.length,
    calls: ground().calls().length,
  });
  return {
    ...operator,
    find,
    queued: () => ground().store.queued(),
    settle,
    calls: () => ground().calls(),
    smtp: () => ground().smtp,
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
    async triggers(definitions) {
      const ids = await createAll(
        '_Trigger',
        definitions.map((definition) => ({ Name: 'of a test', ...definition })),
      );
      for (const id of ids) triggers.add(id);
      return ids;
    },
    createAll,
    batch,
    async counts(tables) {
      const found = await ground().store.counts(tables);
      return Object.fromEntries(tables.map((table) => [table, found[`records ${table}`] ?? 0]));
    },
    stored: (table, objectId) => ground().store.record(table, objectId),
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
    hold: () => writeFileSync(ground().held, ''),
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
export function onEachEngine(suite: (world: World, engine: EngineName) => void, name?: GroundName): void {
  for (const engine of engines) describe(engine, () => suite(useWorld(engine, name), engine));
}

/** The same on one engine: for what no engine has a say in. */
export function onAnyEngine(suite: (world: World, engine: EngineName) => void, name?: GroundName): void {
  for (const engine of sampledEngines()) describe(engine, () => suite(useWorld(engine, name), engine));
}
