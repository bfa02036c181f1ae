import { ServiceError } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';

/** What the service notes of a user, where a condition is met. */
export interface UserUpdate {
  /** Looked at in the commit itself: of many at once, each sees what those before it have left. */
  readonly condition: Filter;
  readonly set: OwnValues;
  /** A field to count up by one. */
  readonly increment?: string;
}

/**
 * Writes what the service notes of a user: no record of a client's, so neither its stamps nor its observers.
 * @param updateOf pure
 * @param alongside further steps of the same commit; pure
 * @returns whether it was written; false where the user is gone or the condition is not met
 */
export async function updateUser(
  store: Store,
  userId: string,
  updateOf: (users: TableSchema) => UserUpdate,
  alongside: (schema: Schema) => readonly Mutation[] = () => [],
): Promise<boolean> {
  const write = store.write({
    plan(schema) {
      const table = tableOf(schema, '_User');
      const { condition, set, increment } = updateOf(table);
      const assignments = assignmentsOf(table, set);
      if (increment) assignments.push({ kind: 'increment', field: fieldOf(table, increment), amount: 1 });
      const update: Mutation = { kind: 'update', table, objectId: userId, guard: null, condition, assignments, returning: [] };
      return { changes: [], mutations: [update, ...alongside(schema)] };
    },
  });
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') return false;
    throw error;
  }
}
