import { ServiceError } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';

/** A conditional update of a user by the service itself. */
export interface UserUpdate {
  /** Checked in the commit: concurrent updates see each other's results. */
  readonly condition: Filter;
  readonly set: OwnValues;
  /** A field to increment by one. */
  readonly increment?: string;
}

/**
 * Writes the service's own state of a user. This is no write of a client, so it sets no `updatedAt` and notifies no observers.
 * @param updateOf pure
 * @param alongside further steps of the same commit; pure
 * @returns whether it was written; false if the user is gone or the condition does not hold
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
