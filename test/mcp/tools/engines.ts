/** Tools called with a key, on a service of each engine. */
import { describe } from 'node:test';
import { type Store, useStore } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { byKey, byMaster, type Tools } from './callers.ts';

/** A store, with the tools as called with the API key. */
export interface KeyTools extends Store, Pick<Tools, 'use' | 'refused'> {
  /** The same with the master key. */
  useAsMaster: Tools['use'];
}

type Suites = (title: string, suite: (tools: KeyTools) => void) => void;

/** Returns a function that runs suites on every engine, on services of this kind. */
export const suitesOn =
  (start: typeof useStore): Suites =>
  (title, suite) => {
    for (const engine of sampledEngines())
      describe(`${title} (${engine})`, () => {
        const store = start(engine);
        const { use, refused } = byKey(store);
        suite({ ...store, use, refused, useAsMaster: byMaster(store).use });
      });
  };

/** Runs a suite on every engine, on the service that suites share. */
export const onEachEngine = suitesOn(useStore);
