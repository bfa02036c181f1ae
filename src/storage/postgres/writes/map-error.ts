import { ServiceError, serviceError } from '../../../errors/fail.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { DuplicateKey } from '../../constraints.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { UNIQUE_INDEX_PREFIX } from '../../sql/unique-key.ts';
import { causeOf } from '../connection/map-error.ts';
import { isOutOfRange, isTooLarge, violatedColumn, violatedConstraint } from '../connection/value-errors.ts';
import { uniqueIndexOfConstraint } from '../schema/constraints.ts';
import { fieldOfConstraint } from '../schema/ddl.ts';
import type { QueuedWrite } from './queued-write.ts';

/**
 * Maps a step's database error to the client's error: DuplicateKey for a unique index of clients; duplicateValue, or the error of the unique field
 * whose value another record has (schema/system-tables.ts); badOperator for a sum outside the range of numbers, valueTooLarge. Other errors stay unchanged.
 */
export function refusalOf(error: unknown, mutation: Mutation): unknown {
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return cause;
  const constraint = violatedConstraint(cause);
  if (constraint !== undefined) {
    const { table } = mutation;
    const index = uniqueIndexOfConstraint(table, constraint);
    if (index) return new DuplicateKey(table.className, index);
    const field = constraint === '' ? fieldOfColumn(table, violatedColumn(cause)) : fieldOfConstraint(table, constraint);
    return serviceError(uniqueFieldsOf(table.className).get(field?.name ?? '') ?? 'duplicateValue');
  }
  if (isOutOfRange(cause) && mutation.kind === 'update') return outOfRange(mutation);
  return isTooLarge(cause) ? serviceError('valueTooLarge') : cause;
}

/** Returns the error of a write of several steps if a unique index of clients refuses one of them: the database names the index, but not the step. */
export function duplicateKeyOf(error: unknown, { mutations }: WritePlan): DuplicateKey | undefined {
  const constraint = violatedConstraint(causeOf(error));
  if (constraint === undefined) return undefined;
  for (const { table } of mutations) {
    const index = uniqueIndexOfConstraint(table, constraint);
    if (index) return new DuplicateKey(table.className, index);
  }
  return undefined;
}

/** Whether a unique index of clients refused a write that this schema does not have: another process has just made it. */
export function isUnknownIndex(error: unknown, { tables }: Schema): boolean {
  const constraint = violatedConstraint(causeOf(error));
  if (!constraint?.startsWith(UNIQUE_INDEX_PREFIX)) return false;
  return !tables.values().some((table) => uniqueIndexOfConstraint(table, constraint));
}

const fieldOfColumn = ({ fields }: TableSchema, column: string | undefined) =>
  fields.values().find((field) => field.column === column);

function outOfRange({ assignments }: Extract<Mutation, { kind: 'update' }>): ServiceError {
  const names = assignments.filter(({ kind }) => kind === 'increment').map(({ field }) => field.name);
  return serviceError('badOperator', `the result of Increment on ${names.join(' or ')} is not a finite number`);
}

/** A transaction of several writes was rejected; nothing of it has taken effect. */
export class GroupFailed extends Error {
  /** The writes before those that failed, the failed ones, and the rest, in order of execution. */
  readonly before: readonly QueuedWrite[];
  readonly failing: readonly QueuedWrite[];
  readonly after: readonly QueuedWrite[];

  constructor(cause: unknown, parts: readonly (readonly QueuedWrite[])[], at: number) {
    super('a group of writes failed', { cause });
    this.before = parts.slice(0, at).flat();
    this.failing = parts[at] ?? [];
    this.after = parts.slice(at + 1).flat();
  }
}

/** Returns a GroupFailed for the write at a position; if the position is past the end, no single write failed. */
export function failedAt(group: readonly QueuedWrite[], at: number, cause: unknown): GroupFailed {
  return new GroupFailed(cause, [group.slice(0, at), group.slice(at, at + 1), group.slice(at + 1)], 1);
}
