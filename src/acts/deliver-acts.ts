import { ServiceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Store } from '../storage/port.ts';
import type { Registry, RegistryAct } from '../storage/registry.ts';
import { type Act, type ActFacts, newAct, operator } from './act.ts';
import { insertAct, takesActs } from './act-row.ts';

/** The part of a registry that holds acts. */
export type ActRegistry = Pick<Registry, 'undeliveredActs' | 'actsDelivered'>;

/** Returns an act of the operator, for the commit of the registry. */
export function registryAct(facts: ActFacts): RegistryAct {
  const act = newAct(facts, operator);
  return { id: act.id, text: JSON.stringify(act) };
}

/** Returns what an operator did with a system. */
export const systemAct = (appId: string, state: string, more: JsonObject = {}): RegistryAct =>
  registryAct({ act: 'system', subject: appId, after: { state, ...more } });

/**
 * Writes the acts that the registry still holds for a system into its log. An act that two processes deliver, or one that ended between the two
 * commits, has one row, since its id is the row's. Reference: audit.md#acts-on-keys-and-systems.
 */
export async function deliverActs(registry: ActRegistry, systemId: string, store: Store): Promise<void> {
  const kept = await registry.undeliveredActs(systemId);
  if (kept.length === 0 || !takesActs(store.schema())) return;
  for (const { text } of kept) await deliver(store, JSON.parse(text));
  await registry.actsDelivered(kept.map(({ id }) => id));
}

async function deliver(store: Store, act: Act): Promise<void> {
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: insertAct(schema, act) }) });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'duplicateValue') throw error;
  }
}
