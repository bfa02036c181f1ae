import type { JsonObject } from '../../kernel/json.ts';
import type { Filter } from '../../query/filter.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import type { Job } from './job.ts';
import { queueTable } from './table.ts';

type Held = Pick<Job, 'id' | 'owner'>;

/** Lets a commit go on only where a job is still its owner's: nobody has taken it over or removed it. @throws objectNotFound in the commit */
export function stillOurs(schema: Schema, { id, owner }: Held): Mutation {
  const table = tableOf(schema, queueTable);
  return { kind: 'require', table, filter: { kind: 'and', items: [is(table, 'objectId', id), is(table, 'owner', owner)] } };
}

/** What a job's row is to say from now on. */
export interface Noted {
  readonly state?: JsonObject;
  readonly attempts?: number;
  readonly dueAt?: number | null;
  /** Of a later job: whether an attempt is under way. */
  readonly flags?: string | null;
}

/** Notes how far a job is, on the condition of `stillOurs`. @throws objectNotFound in the commit */
export function noteJob(schema: Schema, { id, owner }: Held, { state, ...noted }: Noted): Mutation {
  const table = tableOf(schema, queueTable);
  const values = { ...noted, ...(state ? { state: JSON.stringify(state) } : {}) };
  return {
    kind: 'update',
    table,
    objectId: id,
    guard: null,
    condition: is(table, 'owner', owner),
    assignments: assignmentsOf(table, values),
    returning: [],
  };
}

/** Takes a job out of the queue, with its picture from before, on the condition of `stillOurs`. @throws objectNotFound in the commit */
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

/** That a field of text has a value. */
export function is(table: TableSchema, name: string, value: string): Filter {
  return { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
}

/** That a field of text has one of some values. */
export function among(table: TableSchema, name: string, values: Iterable<string>): Filter {
  return { kind: 'in', field: fieldOf(table, name), values: [...values] };
}
