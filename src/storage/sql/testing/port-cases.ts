import type { Engine } from '../../engine.ts';
import type { Store } from '../../port.ts';
import { testConditions } from './condition-cases.ts';
import { testEvery } from './every-cases.ts';
import { testFiles } from './file-cases.ts';
import { testMissing } from './missing-cases.ts';
import { testNotes } from './note-cases.ts';
import { testContents } from './raw-access-cases.ts';
import { testRest } from './rest-cases.ts';
import { testSnapshots } from './snapshot-cases.ts';
import { testUnique } from './unique-cases.ts';

/**
 * Defines all cases that both engines pass through the port of the storage. Await it before the first test runs; otherwise the store is closed once
 * the tests defined so far have run.
 */
export async function testPort(engine: Engine, store: Store): Promise<void> {
  await testFiles(store);
  await testMissing(store);
  await testNotes(store);
  await testSnapshots(store);
  await testContents(store);
  await testEvery(store);
  await testConditions(store);
  await testUnique(store);
  testRest(engine);
}
