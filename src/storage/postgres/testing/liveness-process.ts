/** A service process for tests: opens a store, prints its process id, and runs until it is killed. */

import { addressesOf } from '../../sql/testing/addresses.ts';
import { openAnyway } from '../../testing/open.ts';
import { PostgresEngine } from '../engine.ts';

const engine = await PostgresEngine.connect(process.argv[2] as string, {
  timeLimit: 10_000,
  connections: 6,
  report: () => {},
  addressesOf,
});
const store = await openAnyway(engine, 'app');
process.stdout.write(`${store.cluster.processId}\n`);
