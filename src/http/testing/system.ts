import type { Store } from '../../storage/port.ts';
import { entryOf } from '../../storage/testing/entry.ts';
import { Registration, System } from '../../systems/system.ts';

/** A system that counts its holders. */
class CountedSystem extends System {
  held = 0;
  override hold(): void {
    this.held++;
    super.hold();
  }
  override release(): void {
    this.held--;
    super.release();
  }
}

const entry = entryOf('app', { name: 'App' });
const store = { schema: () => ({ version: 0, tables: new Map(), referencesTo: new Map() }) } as unknown as Store;

export const emptySystem = () => new CountedSystem(new Registration(entry, [], 'salt'), store);
