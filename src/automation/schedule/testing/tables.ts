/** Tables that schedules use, filled and read directly, for unit tests on either engine. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../kernel/json.ts';
import { readRows } from '../../../records/index.ts';
import { planTable } from '../../../schema/definition.ts';
import { tableOf } from '../../../schema/model.ts';
import { columnsOf, type OwnValues } from '../../../storage/column-values.ts';
import type { Mutation, Store } from '../../../storage/port.ts';
import { type Job, jobOf, type QueueRow } from '../../queue/job.ts';
import { queueFields } from '../../queue/table.ts';

const fieldsOf = (type: string, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, { type }]));

const tables: Readonly<Record<string, JsonObject>> = {
  _Trigger: {
    ...fieldsOf('String', ['Name', 'table', '_cursor']),
    ...fieldsOf('Array', ['events', 'changedFields', 'actions']),
    ...fieldsOf('Object', ['criteria', 'schedule']),
    ...fieldsOf('Date', ['nextRun', 'lastRun']),
    ...fieldsOf('Boolean', ['Active']),
  },
  _TriggerQueue: {
    ...fieldsOf('String', queueFields),
    ...fieldsOf('Number', ['level', 'attempts']),
    ...fieldsOf('Date', ['dueAt']),
  },
  _syslogTriggers: fieldsOf('String', ['triggerId', 'actionId', 'event', 'objectIdValue', 'data', 'error']),
  Things: { ...fieldsOf('String', ['name']), ...fieldsOf('Number', ['size']) },
};

/** Creates the tables. */
export async function makeTables(store: Store): Promise<void> {
  for (const [name, fields] of Object.entries(tables))
    await store.write({ plan: (schema) => ({ changes: planTable(schema, name, { fields }, () => {}), mutations: [] }) });
}

/** Adds records with stored values; mandatory fields are added. */
export async function add(store: Store, className: string, records: readonly OwnValues[]): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, className);
      const own = { createdAt: 0, updatedAt: 0, createdBy: 'master', updatedBy: 'master' };
      const mutations = records.map(
        (record): Mutation => ({ kind: 'insert', table, values: columnsOf(table, { ...own, ...record }) }),
      );
      return { changes: [], mutations };
    },
  });
}

/** A definition that sends a notification every minute for each record of `Things`. */
export async function define(store: Store, objectId: string, values: OwnValues = {}): Promise<void> {
  const action = { _id: 'action0001', type: 'notification', Active: true, actionData: { user: 'someone000', content: 'x' } };
  const usual = {
    Name: objectId,
    table: 'Things',
    events: '["schedule"]',
    schedule: '{"cron":"* * * * *","timezone":"UTC"}',
    actions: JSON.stringify([action]),
    Active: true,
  };
  await add(store, '_Trigger', [{ objectId, ...usual, ...values }]);
}

/** Adds a number of records of `Things`, with objectIds from `thing00000` on. */
export async function addThings(store: Store, count: number): Promise<void> {
  await add(
    store,
    'Things',
    Array.from({ length: count }, (_, n) => ({ objectId: thing(n), name: 'a thing', size: n })),
  );
}

/** The objectId of a record of `Things`. */
export const thing = (n: number): string => `thing${String(n).padStart(5, '0')}`;

/** Returns all rows of a table in wire form, with these fields, in order of creation. */
export const rowsOf = (store: Store, className: string, fields: readonly string[]): Promise<JsonObject[]> =>
  readRows(store, { className, fields, filter: () => ({ kind: 'always' }) });

/** Returns a definition's times in milliseconds, `null` if absent. */
export async function timesOf(store: Store, id: string) {
  const rows = await rowsOf(store, '_Trigger', ['objectId', 'nextRun', 'lastRun', '_cursor', 'updatedAt']);
  const { nextRun, lastRun, _cursor = null, updatedAt } = rows.find(({ objectId }) => objectId === id) ?? {};
  const at = (date: unknown) => (date ? Date.parse((date as { iso: string }).iso) : null);
  return { nextRun: at(nextRun), lastRun: at(lastRun), cursor: _cursor, updatedAt: Date.parse(updatedAt as string) };
}

/** Returns the queue rows of a kind. */
export async function queued(store: Store, kind: string): Promise<JsonObject[]> {
  const rows = await rowsOf(store, '_TriggerQueue', ['objectId', 'createdAt', ...queueFields]);
  return rows.filter((row) => row.kind === kind);
}

/** Returns the queued runs, as the runner passes them. */
export const runsOf = async (store: Store): Promise<Job[]> =>
  (await queued(store, 'schedule')).map((row) => jobOf(row as unknown as QueueRow));

/** Returns the only queued run. */
export async function onlyRun(store: Store): Promise<Job> {
  const [job, ...others] = await runsOf(store);
  assert.ok(job && others.length === 0);
  return job;
}

/** Returns the rows of the log. */
export const logOf = (store: Store): Promise<JsonObject[]> =>
  rowsOf(store, '_syslogTriggers', ['triggerId', 'actionId', 'event', 'objectIdValue', 'error']);

/** Changes stored values of a record. */
export async function change(store: Store, className: string, objectId: string, values: OwnValues): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, className);
      const assignments = columnsOf(table, values).map(([field, value]) => ({ kind: 'set', field, value }) as const);
      return { changes: [], mutations: [{ kind: 'update', table, objectId, guard: null, assignments, returning: [] }] };
    },
  });
}

export async function remove(store: Store, className: string, objectId: string): Promise<void> {
  await store.write({
    plan: (schema) => ({
      changes: [],
      mutations: [{ kind: 'delete', table: tableOf(schema, className), objectId, guard: null }],
    }),
  });
}
