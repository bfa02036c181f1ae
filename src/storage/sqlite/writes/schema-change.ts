import { Worker } from 'node:worker_threads';
import type { FileAddresses } from '../../../config/index.ts';
import type { ErrorKey } from '../../../errors/catalogue.ts';
import { ServiceError } from '../../../errors/fail.ts';
import { inDoubtSince, unavailableSince } from '../../../errors/system-faults.ts';
import { type SchemaStep, stepsOf } from '../../../schema/change.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import { lookUpFieldsOf } from '../../../schema/system-tables.ts';
import { Overtaken, type WriteOutcome, type WritePlan } from '../../port.ts';
import type { Connection } from '../connection/connection.ts';
import { receivedFault, type SentFault, storeFaultOf } from '../connection/map-error.ts';
import { maxRowCount, textBytes } from '../connection/statements.ts';
import { isLongChange } from '../schema/ddl.ts';

/** Records of a table that are read through, to build an index or to take a column out, in little enough time for the event loop. */
const MAX_SHORT_RECORDS = 10_000;

/** Bytes of texts that a full-text index is made of in little enough time for the event loop. */
const MAX_SHORT_TEXT_BYTES = 512 * 1024;

/** Fields that a new table has in little enough time for the event loop, which may have an index each. */
const MAX_SHORT_FIELDS = 200;

const workerFile = new URL('./schema-change-worker.ts', import.meta.url);

/** What the thread is started with: a plan, made under the schema that the catalogue's version names. */
export interface SchemaChangeTask {
  readonly path: string;
  readonly plan: WritePlan;
  readonly catalogVersion: number;
  readonly addresses: FileAddresses;
}

/** The same, with what the thread sets to 1 before its COMMIT begins: a message might not arrive where the thread ends in it. */
export interface SchemaChangeSetup extends SchemaChangeTask {
  readonly isCommitting: Int32Array;
}

/** What the thread says: the outcome, or the error of the catalogue that refused the plan or that a fault is, or that a condition of it does not hold. */
export type SchemaChangeAnswer =
  | 'overtaken'
  | { readonly outcome: WriteOutcome }
  | { readonly key: ErrorKey; readonly text: string; readonly cause?: SentFault };

/** Whether a plan goes through all records of a large table, or is about many columns, which would hold up every request for as long. */
export function isLongSchemaChange(connection: Connection, plan: WritePlan, schema: Schema): boolean {
  return stepsOf(plan.changes).some((step) => {
    if (step.kind === 'setTemplateVersion') return false;
    if (step.kind === 'createTable') return (step.fields?.length ?? 0) > MAX_SHORT_FIELDS;
    const table = schema.tables.get(step.className);
    if (table === undefined) return false;
    if ((step.kind === 'addFields' || step.kind === 'dropFields') && isLongChange(step, table)) return true;
    if (readsAll(step) && maxRowCount(connection, table) > MAX_SHORT_RECORDS) return true;
    return textBytes(connection, table, reindexed(step, table)) > MAX_SHORT_TEXT_BYTES;
  });
}

/** The fields whose texts a step makes a full-text index of. */
function reindexed(step: SchemaStep, { textIndex }: TableSchema): readonly string[] {
  if (step.kind === 'setTextIndex') return step.fields;
  if (step.kind !== 'dropFields' || !step.names.some((name) => textIndex.includes(name))) return [];
  return textIndex.filter((name) => !step.names.includes(name));
}

function readsAll(step: SchemaStep): boolean {
  if (step.kind === 'addFields')
    return step.fields.some(({ name, type }) => type === 'Pointer' || lookUpFieldsOf(step.className).has(name));
  if (step.kind === 'setIndex') return !step.index.isFilling;
  return step.kind === 'setTextIndex' || step.kind === 'dropFields';
}

/**
 * Carries a plan out on a thread of its own. The caller keeps its other writes back until then.
 * @param file the thread's code, of which its tests have others
 * @throws what the plan's steps throw; unavailable; outcomeUnknown where the thread ended in its COMMIT
 */
export function changeSchemaOnThread(task: SchemaChangeTask, file = workerFile): Promise<WriteOutcome> {
  return new Promise((resolve, reject) => {
    const isCommitting = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(file, { workerData: { ...task, isCommitting } satisfies SchemaChangeSetup });
    // It ended without an answer: it could not be started, had no memory left, or was at fault.
    const ended = (cause: unknown) => {
      const { code } = cause as NodeJS.ErrnoException;
      const isPassing = storeFaultOf(cause) !== null || code?.startsWith('ERR_WORKER_');
      if (Atomics.load(isCommitting, 0) === 1) reject(inDoubtSince(cause));
      else reject(isPassing ? unavailableSince(cause) : cause);
    };
    worker.on('message', (answer: SchemaChangeAnswer) => {
      if (answer === 'overtaken') reject(new Overtaken());
      else if ('outcome' in answer) resolve(answer.outcome);
      else reject(receivedError(answer));
    });
    worker.once('error', ended);
    worker.once('exit', () => ended(new Error('the thread of a schema change ended early')));
  });
}

function receivedError({ key, text, cause }: { key: ErrorKey; text: string; cause?: SentFault }): ServiceError {
  const error = new ServiceError(key, text);
  if (cause) error.cause = receivedFault(cause);
  return error;
}
