import { setTimeout as wait } from 'node:timers/promises';
import { readRows } from '../../records/index.ts';
import { fieldOf, type Schema } from '../../schema/model.ts';
import type { Store, WritePlan } from '../../storage/port.ts';
import { endedBefore, itemTable } from './items.ts';

/** Items that one commit deletes, and milliseconds between two of them, in which others have their turn. */
const BATCH = 500;
const PAUSE = 50;

/**
 * Removes what has ended of sign-ins: codes, tokens, grants, sessions, and clients that registered and never came to a grant.
 * @param isEnough asked before each batch
 */
export async function sweepItems(store: Store, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    const rows = await readRows<{ objectId: string }>(store, { ...endedBefore(Date.now()), limit: BATCH });
    const ids = rows.map(({ objectId }) => objectId);
    if (ids.length > 0) await store.write({ plan: (schema) => planRemoval(schema, ids) });
    if (ids.length < BATCH) return;
    await wait(PAUSE);
  }
}

function planRemoval(schema: Schema, values: readonly string[]): WritePlan {
  const table = schema.tables.get(itemTable);
  if (!table) return { changes: [], mutations: [] };
  const filter = { kind: 'in', field: fieldOf(table, 'objectId'), values } as const;
  return { changes: [], mutations: [{ kind: 'deleteAll', table, filter }] };
}
