/** A thread that executes one plan: schema changes that read a large table, and the write that requires them; or large values. */

import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError } from '../../../errors/fail.ts';
import { DuplicateKey } from '../../constraints.ts';
import { ConditionFailed } from '../../port.ts';
import { Connection } from '../connection/connection.ts';
import { busyError, mapError, sentFault, storeFaultOf } from '../connection/map-error.ts';
import { lowerPriority } from '../connection/thread-priority.ts';
import { catalogVersion, loadSchema } from '../schema/catalog.ts';
import { executePlan } from './execute-mutation.ts';
import type { SchemaChangeAnswer, SchemaChangeSetup } from './schema-change.ts';
import { commit } from './transaction.ts';

const { path, plan, catalogVersion: plannedUnder, addresses, isCommitting } = workerData as SchemaChangeSetup;
lowerPriority();

function changeSchema(connection: Connection): SchemaChangeAnswer {
  if (!connection.begin()) throw busyError();
  try {
    // Another process has changed the schema: the plan may no longer fit.
    if (connection.use(catalogVersion) !== plannedUnder) {
      connection.rollback();
      return 'outdated';
    }
    const { outcome } = executePlan(connection, plan, connection.use(loadSchema), { addresses: () => addresses });
    Atomics.store(isCommitting, 0, 1);
    commit(connection, () => true);
    return { outcome };
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

function answer(): SchemaChangeAnswer {
  let connection: Connection | undefined;
  try {
    connection = new Connection(path, 'write');
    return changeSchema(connection);
  } catch (thrown) {
    const error = mapError(thrown);
    if (error instanceof ServiceError)
      return {
        key: error.key,
        text: error.message,
        ...(error.item !== undefined && { item: error.item }),
        ...(error.details !== undefined && { details: error.details }),
        ...(error instanceof DuplicateKey && { duplicate: { className: error.className, index: error.index } }),
        ...(storeFaultOf(error) ? { cause: sentFault(error) } : {}),
      };
    if (error instanceof ConditionFailed) return 'overtaken';
    throw error;
  } finally {
    connection?.close();
  }
}

parentPort?.postMessage(answer());
