/** A service besides the one that suites share. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { type Store, storeOf } from '../../support/records.ts';
import type { EngineName, Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

/** The zone of the process must not matter (crm/import-zone.test.ts); it also makes the shared service a separate one. */
const env = { TZ: 'Asia/Jerusalem' };

/**
 * Uses the service of suites that read everything of a system (users, messages, tables, permissions) but do not affect each other. They undo changes
 * that others would see.
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
