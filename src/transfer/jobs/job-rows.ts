import { type Act, insertAct } from '../../acts/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRow, readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, columnsOf } from '../../storage/column-values.ts';
import type { PendingRows } from '../../storage/engine.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import { importTable, nothingDone } from '../import/write/progress.ts';
import { leftOutOf } from './parameters.ts';

/** The hidden table of rejected rows. */
export const rejectTable = '_ImportReject';

/** A stored job. */
export interface JobRow {
  readonly objectId: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly objectClass: string;
  /** JSON: the request, and what was not imported so far. */
  readonly options: string;
  /** The principal that requested it: `user:ID`, `master`, `apiKey:NAME`. */
  readonly author: string;
  /** Id of the stored body. */
  readonly body?: string;
  /** `Cluster.processId` of the process that executes it. */
  readonly owner?: string;
  /** Identifies one execution, to detect a take-over. */
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

/** Returns a job; `null` if the id is unknown. */
export async function readJob(store: Store, id: string): Promise<JobRow | null> {
  const row = await readRow<JobRow & { kind?: string }>(store, importTable, fieldsWithKind, id);
  return row?.kind === kind ? row : null;
}

const fieldsWithKind = ['kind', ...jobFields] as const;

/** Returns unfinished jobs, oldest first. */
export function unfinishedJobs(store: Store, limit: number): Promise<JobRow[]> {
  return readRows<JobRow>(store, { className: importTable, fields: jobFields, filter: isUnfinished, limit });
}

/** Unfinished jobs of a system that fall to this process, by state. Jobs of a system run one after the other, in the process of the first. */
export async function pendingImports(
  store: Store,
  limit: number,
): Promise<{ readonly waiting: number; readonly running: number }> {
  const query = { className: importTable, fields: ['state', 'owner'], filter: isUnfinished, limit };
  const rows = await readRows<Pick<JobRow, 'state' | 'owner'>>(store, query);
  const owner = rows.find((row) => row.owner)?.owner ?? store.cluster.processId;
  if (owner !== store.cluster.processId) return { waiting: 0, running: 0 };
  const running = rows.filter(({ state }) => state === 'running').length;
  return { waiting: rows.length - running, running };
}

const unfinishedStates = ['waiting', 'running'] as const;

/** What a system without unfinished jobs has none of. */
export const unfinishedRows: readonly PendingRows[] = [{ className: importTable, field: 'state', values: unfinishedStates }];

function isUnfinished(table: TableSchema): Filter {
  const items: Filter[] = [
    { kind: 'in', field: fieldOf(table, 'state'), values: unfinishedStates },
    { kind: 'compare', field: fieldOf(table, 'kind'), op: 'eq', value: kind },
  ];
  return { kind: 'and', items };
}

/** Queues a job. @param act its row in the log of administrators; `null` for a dry run */
export async function addJob(
  store: Store,
  job: Pick<JobRow, 'objectId' | 'objectClass' | 'options' | 'author'> & { readonly body: string },
  act: Act | null,
): Promise<void> {
  const at = Date.now();
  await store.write({
    plan(schema) {
      const table = tableOf(schema, importTable);
      const row = { ...job, kind, state: 'waiting', owner: '', run: '', createdAt: at, updatedAt: at, ...nothingDone };
      const queued = { kind: 'insert', table, values: columnsOf(table, row) } as const;
      return { changes: [], mutations: act ? [queued, ...insertAct(schema, act)] : [queued] };
    },
  });
}

/** Returns a mutation that changes a job if it has the expected values; otherwise the write fails with outOfStorage, which no record write causes. */
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

/** Changes a job if it has the expected values. @throws outOfStorage (140) if it does not */
export async function changeJob(
  store: Store,
  objectId: string,
  values: Readonly<Record<string, StoredValue>>,
  expected: Readonly<Record<string, string | number>>,
): Promise<void> {
  await store.write({ plan: (schema) => ({ changes: [], mutations: [jobStep(schema, objectId, values, expected)] }) });
}

/** Returns a mutation that stores rejected rows of a job. @param part sequence number */
export function rejectStep(schema: Schema, job: string, objectId: string, part: number, rows: string): Mutation {
  const table = tableOf(schema, rejectTable);
  const at = Date.now();
  const values = columnsOf(table, { objectId, createdAt: at, updatedAt: at, job, part, rows });
  return { kind: 'insert', table, values };
}

/** Parts per read. */
const PARTS_PER_READ = 20;

/** Returns the rejected rows of a job, one JSON object per line. */
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
      limit: PARTS_PER_READ,
    });
    for (const { rows } of parts) yield rows;
    after = parts.at(-1)?.part ?? after;
    if (parts.length < PARTS_PER_READ) return;
  }
}

/** Deletes the rejected rows of a job. */
export async function dropRejects(store: Store, job: string): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, rejectTable);
      const filter: Filter = { kind: 'compare', field: fieldOf(table, 'job'), op: 'eq', value: job };
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter }] };
    },
  });
}

/** Returns the public view of a job. Reference: import.md#import-jobs. @param rejectedUrl address of the rejected rows */
export function jobAnswer(job: JobRow, rejectedUrl: string): JsonObject {
  const { state, of = 0, done = 0, created = 0, updated = 0, rejected = 0, error } = job;
  const answer: Record<string, JsonValue> = {
    state: state === 'waiting' ? 'running' : state,
    done,
    of,
    created,
    updated,
    rejected,
    rejectedUrl,
  };
  if (error !== undefined) answer.error = error;
  const leftOut = leftOutOf(job.options);
  if (leftOut.size > 0) answer.notTakenOver = Object.fromEntries(leftOut);
  return answer;
}
