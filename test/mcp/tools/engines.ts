/** Tools called with a key, on a service of each engine. */
import { describe } from 'node:test';
import { type Store, useStore } from '../../support/records.ts';
import { engines } from '../../support/service.ts';
import { byKey, byMaster, type Tools } from './callers.ts';

/** A store, with the tools as the holder of an API key calls them. */
export interface KeyTools extends Store, Pick<Tools, 'use' | 'refused'> {
  /** The same with the master key. */
  useAsMaster: Tools['use'];
}

/** Runs a suite on every engine. */
export function onEachEngine(title: string, suite: (tools: KeyTools) => void): void {
  for (const engine of engines)
    describe(`${title} (${engine})`, () => {
      const store = useStore(engine);
      const { use, refused } = byKey(store);
      suite({ ...store, use, refused, useAsMaster: byMaster(store).use });
    });
}
