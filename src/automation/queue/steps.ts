import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import type { Job } from './job.ts';
import { queueTable } from './table.ts';

type Held = Pick<Job, 'id' | 'owner'> & Was;

/**
 * What the row of a job says as far as its owner knows: a commit that nobody had an answer to may be carried out late, and what it did is not to
 * be done once more.
 */
export interface Was {
  /** Its `state`; left out: whatever it is. */
  readonly was?: string | null;
  /** Its `attempts`, likewise. */
  readonly wasAttempts?: number;
}

/** Lets a commit go on only where a job is still its owner's: nobody has taken it over or removed it. @throws objectNotFound in the commit */
export function stillOurs(schema: Schema, job: Held): Mutation {
  const table = tableOf(schema, queueTable);
  return { kind: 'require', table, filter: { kind: 'and', items: [is(table, 'objectId', job.id), ...asKnown(table, job)] } };
}

function asKnown(table: TableSchema, { owner, was, wasAttempts }: Held): Filter[] {
  const attempts = fieldOf(table, 'attempts');
  return [
    is(table, 'owner', owner),
    ...(was === undefined ? [] : [was === null ? isAbsent(fieldOf(table, 'state')) : is(table, 'state', was)]),
    ...(wasAttempts === undefined ? [] : [orAbsent(attempts, wasAttempts)]),
  ];
}

const isAbsent = (field: Field): Filter => ({ kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } });

/** That a number of attempts is this one; none was noted before the first. */
function orAbsent(field: Field, value: number): Filter {
  const same: Filter = { kind: 'compare', field, op: 'eq', value };
  return value === 0 ? { kind: 'or', items: [same, isAbsent(field)] } : same;
}

/** What a job's row is to say from now on. */
export interface Noted {
  readonly state?: JsonObject;
  readonly attempts?: number;
  readonly dueAt?: number | null;
  /** When this is noted: a time to come says that the clock was set back since, and that `dueAt` is by the clock before. */
  readonly updatedAt?: number;
  /** Of a later job: whether an attempt is under way. */
  readonly flags?: string | null;
}

/** Notes how far a job is, on the condition of `stillOurs`. @throws objectNotFound in the commit */
export function noteJob(schema: Schema, job: Held, { state, ...noted }: Noted): Mutation {
  const table = tableOf(schema, queueTable);
  const values = { ...noted, ...(state ? { state: JSON.stringify(state) } : {}) };
  return {
    kind: 'update',
    table,
    objectId: job.id,
    guard: null,
    condition: { kind: 'and', items: asKnown(table, job) },
    assignments: assignmentsOf(table, values),
    returning: [],
  };
}

/** Takes a job out of the queue, with its snapshot from before, on the condition of `stillOurs`. @throws objectNotFound in the commit */
export function removeJob(schema: Schema, job: Held & Pick<Job, 'beforeId'>): readonly Mutation[] {
  return [stillOurs(schema, job), removeRows(schema, rowsOf(job))];
}

/** Takes jobs out of the queue that are all the owner's; those that are not stay. */
export function removeJobs(schema: Schema, jobs: readonly (Held & Pick<Job, 'beforeId'>)[], owner: string): readonly Mutation[] {
  return [removeRows(schema, jobs.flatMap(rowsOf), owner)];
}

const rowsOf = ({ id, beforeId }: Pick<Job, 'id' | 'beforeId'>): string[] => (beforeId === null ? [id] : [id, beforeId]);

function removeRows(schema: Schema, ids: readonly string[], owner?: string): Mutation {
  const table = tableOf(schema, queueTable);
  const among: Filter = { kind: 'in', field: fieldOf(table, 'objectId'), values: ids };
  const filter: Filter = owner === undefined ? among : { kind: 'and', items: [among, is(table, 'owner', owner)] };
  return { kind: 'deleteAll', table, filter };
}

/** That the time of a job has come; where it was noted later than now the clock was set back since, and nobody knows when it would have. */
export function isDue(table: TableSchema, now: number): Filter {
  const later = (name: string): Filter => ({ kind: 'compare', field: fieldOf(table, name), op: 'gt', value: now });
  return { kind: 'or', items: [{ kind: 'not', item: later('dueAt') }, later('updatedAt')] };
}

/** That a field of text has a value. */
export function is(table: TableSchema, name: string, value: string): Filter {
  return { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
}

/** That a field of text has one of some values. */
export function among(table: TableSchema, name: string, values: Iterable<string>): Filter {
  return { kind: 'in', field: fieldOf(table, name), values: [...values] };
}
