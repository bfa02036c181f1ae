/** A service beside the one that suites share. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { type Store, storeOf } from '../../support/records.ts';
import type { EngineName, Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

/** No setting that the program reads: it tells the two services apart. */
const env = { SHARED_BY: 'suites that count' };

/**
 * The service of suites that ask for all that a system has (its users, messages, tables, what everybody may), and that are in each other's
 * way in none of it. What they change for all they put back.
 */
export function useSecondStore(engine: EngineName): Store {
  let running: Service | undefined;
  before(async () => {
    running = await sharedService(engine, env);
  });
  return storeOf(() => {
    assert.ok(running, 'the service runs');
    return running;
  });
}
