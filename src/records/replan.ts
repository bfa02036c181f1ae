import type { Schema } from '../schema/model.ts';
import { SchemaChanged, type Store } from '../storage/port.ts';

/** More changes of the schema than this while one read waits are no accident. */
const ATTEMPTS = 100;

/** Plans a read and runs it; again where the schema loses something before its turn comes. @param read plans under the schema in the same turn */
export async function underSchema<T>(store: Store, read: (schema: Schema) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await read(store.schema());
    } catch (error) {
      if (!(error instanceof SchemaChanged) || attempt === ATTEMPTS) throw error;
    }
}
