import type { RecordContext } from '../../records/index.ts';
import type { Part, Snapshot } from './model/snapshot.ts';
import { readState } from './state/system-state.ts';

/** Returns what a system is made of. Reference: schema-as-code.md#the-snapshot. */
export async function exportSchema({ store }: RecordContext, parts: readonly Part[]): Promise<Snapshot> {
  const { snapshot } = await readState(store, parts);
  return snapshot;
}
