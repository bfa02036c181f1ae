import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRow, readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, columnsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import { importTable, nothingDone } from '../import/write/progress.ts';
import { leftOutOf } from './parameters.ts';

/** The hidden table of rows that jobs refused. */
export const rejectTable = '_ImportReject';

/** A job as it is stored. */
export interface JobRow {
  readonly objectId: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly objectClass: string;
  /** JSON: how, and what was not taken over so far. */
  readonly options: string;
  /** Who asked for it: `user:ID`, `master`, `apiKey:NAME`. */
  readonly author: string;
  /** Of the kept body. */
  readonly body?: string;
  /** `Cluster.processId` of who carries it out. */
  readonly owner?: string;
  /** Names one carrying out of it. */
  readonly run?: string;
  readonly error?: string;
  readonly of?: number;
  readonly done?: number;
  readonly created?: number;
  readonly updated?: number;
  readonly rejected?: number;
}

const jobFields = [
  ...['objectId', 'state', 'objectClass', 'options', 'author', 'body', 'owner', 'run', 'error'],
  ...['of', 'done', 'created', 'updated', 'rejected'],
] as const;

const kind = 'request';

/** A job; `null` where there is none of the id. */
export async function readJob(store: Store, id: string): Promise<JobRow | null> {
  const row = await readRow<JobRow & { kind?: string }>(store, importTable, fieldsWithKind, id);
  return row?.kind === kind ? row : null;
}

const fieldsWithKind = ['kind', ...jobFields] as const;

/** Jobs that are not over, the oldest first. */
export function unfinishedJobs(store: Store, limit: number): Promise<JobRow[]> {
  return readRows<JobRow>(store, { className: importTable, fields: jobFields, filter: isUnfinished, limit });
}

function isUnfinished(table: TableSchema): Filter {
  const items: Filter[] = [
    { kind: 'in', field: fieldOf(table, 'state'), values: ['waiting', 'running'] },
    { kind: 'compare', field: fieldOf(table, 'kind'), op: 'eq', value: kind },
  ];
  return { kind: 'and', items };
}

/** Adds a job. */
export async function addJob(
  store: Store,
  job: Pick<JobRow, 'objectId' | 'objectClass' | 'options' | 'author'> & { readonly body: string },
): Promise<void> {
  const at = Date.now();
  await store.write({
    plan(schema) {
      const table = tableOf(schema, importTable);
      const row = { ...job, kind, state: 'waiting', owner: '', run: '', createdAt: at, updatedAt: at, ...nothingDone };
      return { changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, row) }] };
    },
  });
}

/** A step that changes a job as long as it is as expected; else its write fails with outOfStorage, which no write of a record does. */
export function jobStep(
  schema: Schema,
  objectId: string,
  values: Readonly<Record<string, StoredValue>>,
  expected: Readonly<Record<string, string | number>>,
): Mutation {
  const table = tableOf(schema, importTable);
  const items = Object.entries(expected).map(
    ([name, value]): Filter => ({ kind: 'compare', field: fieldOf(table, name), op: 'eq', value }),
  );
  const assignments = assignmentsOf(table, { ...values, updatedAt: Date.now() });
  return {
    kind: 'update',
    table,
    objectId,
    guard: null,
    condition: { kind: 'and', items },
    missing: 'outOfStorage',
    assignments,
    returning: [],
  };
}

/** Changes a job as long as it is as expected. @throws outOfStorage (140) where it is not */
export async function changeJob(
  store: Store,
  objectId: string,
  values: Readonly<Record<string, StoredValue>>,
  expected: Readonly<Record<string, string | number>>,
): Promise<void> {
  await store.write({ plan: (schema) => ({ changes: [], mutations: [jobStep(schema, objectId, values, expected)] }) });
}

/** A step that keeps rejected rows of a job. @param part in their order */
export function rejectStep(schema: Schema, job: string, objectId: string, part: number, rows: string): Mutation {
  const table = tableOf(schema, rejectTable);
  const at = Date.now();
  const values = columnsOf(table, { objectId, createdAt: at, updatedAt: at, job, part, rows });
  return { kind: 'insert', table, values };
}

/** Parts that are read at once. */
const PARTS_READ = 20;

/** The rejected rows of a job, one JSON object a line. */
export async function* rejectedRows(store: Store, job: string): AsyncGenerator<string> {
  for (let after = -1; ; ) {
    const from = after;
    const parts = await readRows<{ part: number; rows: string }>(store, {
      className: rejectTable,
      fields: ['part', 'rows'],
      filter: (table) => ({
        kind: 'and',
        items: [
          { kind: 'compare', field: fieldOf(table, 'job'), op: 'eq', value: job },
          { kind: 'compare', field: fieldOf(table, 'part'), op: 'gt', value: from },
        ],
      }),
      orderBy: 'part',
      limit: PARTS_READ,
    });
    for (const { rows } of parts) yield rows;
    after = parts.at(-1)?.part ?? after;
    if (parts.length < PARTS_READ) return;
  }
}

/** Removes the rejected rows of a job. */
export async function dropRejects(store: Store, job: string): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, rejectTable);
      const filter: Filter = { kind: 'compare', field: fieldOf(table, 'job'), op: 'eq', value: job };
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter }] };
    },
  });
}

/** What a client is told of a job (CONTRACT "Export, import, migration"). @param rejectedUrl where the rejected rows are */
export function jobAnswer(job: JobRow, rejectedUrl: string): JsonObject {
  const { state, of = 0, done = 0, created = 0, updated = 0, rejected = 0, error } = job;
  const told: Record<string, JsonValue> = {
    state: state === 'waiting' ? 'running' : state,
    done,
    of,
    created,
    updated,
    rejected,
    rejectedUrl,
  };
  if (error !== undefined) told.error = error;
  const leftOut = leftOutOf(job.options);
  if (leftOut.size > 0) told.notTakenOver = Object.fromEntries(leftOut);
  return told;
}
