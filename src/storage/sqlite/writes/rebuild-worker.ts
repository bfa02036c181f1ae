/** A thread that carries out one plan: schema changes that go through a large table, and the write that asked for them. */

import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { Overtaken } from '../../port.ts';
import { Connection } from '../connection.ts';
import { lowerPriority } from '../priority.ts';
import { catalogVersion, loadSchema } from '../schema/catalog.ts';
import { carryOutPlan } from './plan.ts';
import type { Rebuild, RebuildAnswer } from './rebuild.ts';

const { path, plan, catalogVersion: plannedUnder, addresses } = workerData as Rebuild;
lowerPriority();

function rebuild(connection: Connection): RebuildAnswer {
  connection.db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have come in between: the plan may no longer fit, and the client may try again.
    if (catalogVersion(connection.db) !== plannedUnder) throw serviceError('unavailable');
    const { outcome } = carryOutPlan(connection, plan, loadSchema(connection.db), { addresses: () => addresses });
    connection.db.exec('COMMIT');
    return { outcome };
  } catch (error) {
    connection.db.exec('ROLLBACK');
    if (error instanceof ServiceError) return { key: error.key, text: error.message };
    if (error instanceof Overtaken) return 'overtaken';
    throw error;
  }
}

const connection = new Connection(path, 'write');
try {
  parentPort?.postMessage(rebuild(connection));
} finally {
  connection.close();
}
