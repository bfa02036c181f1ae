import { setTimeout as wait } from 'node:timers/promises';
import type { Filter } from '../../query/filter.ts';
import { type OwnQuery, readRows } from '../../records/index.ts';
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
    const ended = endedBefore(Date.now());
    const rows = await readRows<{ objectId: string }>(store, { ...ended, limit: BATCH });
    const ids = rows.map(({ objectId }) => objectId);
    if (ids.length > 0) await store.write({ plan: (schema) => planRemoval(schema, ids, ended.filter) });
    if (ids.length < BATCH) return;
    await wait(PAUSE);
  }
}

/** @param isEnded looked at again in the commit: a client is kept once it has a grant, and the end of a grant is moved on */
function planRemoval(schema: Schema, values: readonly string[], isEnded: OwnQuery['filter']): WritePlan {
  const table = schema.tables.get(itemTable);
  const ended = table && isEnded(table);
  if (!ended) return { changes: [], mutations: [] };
  const items: Filter[] = [{ kind: 'in', field: fieldOf(table, 'objectId'), values }, ended];
  return { changes: [], mutations: [{ kind: 'deleteAll', table, filter: { kind: 'and', items } }] };
}
