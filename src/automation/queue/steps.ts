import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import type { Job } from './job.ts';
import { queueTable } from './table.ts';

type OwnedJob = Pick<Job, 'id' | 'owner'> & ExpectedState;

/** The last known content of a job's row. A commit with unknown outcome may take effect late; these conditions prevent repeating what it did. */
export interface ExpectedState {
  /** Expected `state`; omitted: any. */
  readonly expectedState?: string | null;
  /** Expected `attempts`; omitted: any. */
  readonly expectedAttempts?: number;
}

/** Makes a commit fail unless this process still owns the job, i.e. it was neither taken over nor removed. @throws objectNotFound in the commit */
export function requireOwned(schema: Schema, job: OwnedJob): Mutation {
  const table = tableOf(schema, queueTable);
  return {
    kind: 'require',
    table,
    filter: { kind: 'and', items: [is(table, 'objectId', job.id), ...expectedFilters(table, job)] },
  };
}

function expectedFilters(table: TableSchema, { owner, expectedState, expectedAttempts }: OwnedJob): Filter[] {
  const attempts = fieldOf(table, 'attempts');
  return [
    is(table, 'owner', owner),
    ...(expectedState === undefined
      ? []
      : [expectedState === null ? isAbsent(fieldOf(table, 'state')) : is(table, 'state', expectedState)]),
    ...(expectedAttempts === undefined ? [] : [orAbsent(attempts, expectedAttempts)]),
  ];
}

const isAbsent = (field: Field): Filter => ({ kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } });

/** Condition on the number of attempts; the field is absent before the first attempt. */
function orAbsent(field: Field, value: number): Filter {
  const same: Filter = { kind: 'compare', field, op: 'eq', value };
  return value === 0 ? { kind: 'or', items: [same, isAbsent(field)] } : same;
}

/** Changes of a job's row. */
export interface JobUpdate {
  readonly state?: JsonObject;
  readonly attempts?: number;
  readonly dueAt?: number | null;
  /** When this was recorded. If it lies in the future, the clock was set back since, and `dueAt` follows the previous clock. */
  readonly updatedAt?: number;
  /** For a retryable job: whether an attempt is in progress. */
  readonly flags?: string | null;
}

/** Updates a job, on the condition of `requireOwned`. @throws objectNotFound in the commit */
export function updateJob(schema: Schema, job: OwnedJob, { state, ...update }: JobUpdate): Mutation {
  const table = tableOf(schema, queueTable);
  const values = { ...update, ...(state ? { state: JSON.stringify(state) } : {}) };
  return {
    kind: 'update',
    table,
    objectId: job.id,
    guard: null,
    condition: { kind: 'and', items: expectedFilters(table, job) },
    assignments: assignmentsOf(table, values),
    returning: [],
  };
}

/** Removes a job and its `before` snapshot, on the condition of `requireOwned`. @throws objectNotFound in the commit */
export function removeJob(schema: Schema, job: OwnedJob & Pick<Job, 'beforeId'>): readonly Mutation[] {
  return [requireOwned(schema, job), removeRows(schema, rowsOf(job))];
}

/** Removes those of the jobs that the owner still owns; others stay. */
export function removeJobs(
  schema: Schema,
  jobs: readonly (OwnedJob & Pick<Job, 'beforeId'>)[],
  owner: string,
): readonly Mutation[] {
  return [removeRows(schema, jobs.flatMap(rowsOf), owner)];
}

const rowsOf = ({ id, beforeId }: Pick<Job, 'id' | 'beforeId'>): string[] => (beforeId === null ? [id] : [id, beforeId]);

function removeRows(schema: Schema, ids: readonly string[], owner?: string): Mutation {
  const table = tableOf(schema, queueTable);
  const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values: ids };
  const filter: Filter = owner === undefined ? among : { kind: 'and', items: [among, is(table, 'owner', owner)] };
  return { kind: 'deleteAll', table, filter };
}

/**
 * Filter for jobs that are due. If a row was updated in the future, the clock was set back since and `dueAt` is meaningless, so the job counts as
 * due.
 */
export function isDue(table: TableSchema, now: number): Filter {
  const later = (name: string): Filter => ({ kind: 'compare', field: fieldOf(table, name), op: 'gt', value: now });
  return { kind: 'or', items: [{ kind: 'not', item: later('dueAt') }, later('updatedAt')] };
}

export function is(table: TableSchema, name: string, value: string): Filter {
  return { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
}

export function among(table: TableSchema, name: string, values: Iterable<string>): Filter {
  return { kind: 'in', field: fieldOf(table, name), values: [...values] };
}
