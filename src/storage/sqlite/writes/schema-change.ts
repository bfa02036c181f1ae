import { Worker } from 'node:worker_threads';
import type { FileAddresses } from '../../../config/index.ts';
import type { ErrorKey } from '../../../errors/catalogue.ts';
import { ServiceError } from '../../../errors/fail.ts';
import { inDoubtSince, unavailableSince } from '../../../errors/system-faults.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type SchemaStep, stepsOf } from '../../../schema/change.ts';
import type { Field, Schema, TableSchema, UniqueIndex } from '../../../schema/model.ts';
import { lookUpFieldsOf } from '../../../schema/system-tables.ts';
import { storageOf } from '../../../values/index.ts';
import { textLength } from '../../column-values.ts';
import { DuplicateKey } from '../../constraints.ts';
import { ConditionFailed, type WriteOutcome, type WritePlan } from '../../port.ts';
import type { Connection } from '../connection/connection.ts';
import { receivedFault, type SentFault, storeFaultOf } from '../connection/map-error.ts';
import { maxRowCount, textBytes } from '../connection/statements.ts';
import { isLongChange } from '../schema/ddl.ts';

/** Maximum records of a table for which the event loop builds an index or drops a column. */
const MAX_SHORT_RECORDS = 10_000;

/** Maximum records of a table of which the event loop converts a field: they are copied, and all indexes are built. */
const MAX_CONVERTED_RECORDS = 500;

/** Maximum bytes of texts from which the event loop builds a full-text index. */
const MAX_SHORT_TEXT_BYTES = 512 * 1024;

/** Maximum bytes of texts that the event loop copies, or computes keys of. */
const MAX_COPIED_BYTES = 2 * 1024 * 1024;

/** Maximum bytes of records that the event loop passes over, and number of values of which it adds these bytes up. */
const MAX_PASSED_BYTES = 64 * 1024 * 1024;
const MAX_MEASURED_VALUES = 400_000;

/** Maximum fields, possibly with an index each, of a table that the event loop creates. */
const MAX_SHORT_FIELDS = 200;

const workerFile = new URL('./schema-change-worker.ts', import.meta.url);

/** Input of the thread: a plan made under the schema with this catalogue version. */
export interface SchemaChangeTask {
  readonly path: string;
  readonly plan: WritePlan;
  readonly catalogVersion: number;
  readonly addresses: FileAddresses;
}

/** The same, with a flag that the thread sets to 1 before its COMMIT begins: a message might be lost if the thread dies in it. */
export interface SchemaChangeSetup extends SchemaChangeTask {
  readonly isCommitting: Int32Array;
}

/**
 * The thread's answer: the outcome; the error that refused the plan, or that a fault is mapped to; that a condition does not hold (`overtaken`); or
 * that the plan was made under another schema (`outdated`).
 */
export type SchemaChangeAnswer =
  | 'overtaken'
  | 'outdated'
  | { readonly outcome: WriteOutcome }
  | {
      readonly key: ErrorKey;
      readonly text: string;
      readonly item?: number;
      readonly details?: JsonObject;
      /** Of a DuplicateKey. */
      readonly duplicate?: { readonly className: string; readonly index: UniqueIndex };
      readonly cause?: SentFault;
    };

/** Maximum tables that the event loop creates or drops in one commit, each about a millisecond. */
const MAX_SHORT_TABLES = 50;

/** Returns whether a plan reads all records of a large table, or changes many columns, and would block the event loop. */
export function isLongSchemaChange(connection: Connection, plan: WritePlan, schema: Schema): boolean {
  if (plan.changes.length === 0) return false;
  const steps = stepsOf(plan.changes);
  // The first tables of a system: nobody else waits.
  if (schema.tables.size > 0 && steps.filter(({ kind }) => isOfTable(kind)).length > MAX_SHORT_TABLES) return true;
  /** Of what one step may do at most, what all of them do. */
  let share = 0;
  return steps.some((step) => {
    if (step.kind === 'setTemplateVersion') return false;
    if (step.kind === 'createTable') return (step.fields?.length ?? 0) > MAX_SHORT_FIELDS;
    const table = schema.tables.get(step.className);
    if (table === undefined) return false;
    if ((step.kind === 'addFields' || step.kind === 'dropFields') && isLongChange(step, table)) return true;
    share += textBytes(connection, table, reindexed(step, table)) / MAX_SHORT_TEXT_BYTES;
    const passes = passesOf(step);
    if (passes === 0 || share > 1) return share > 1;
    const records = maxRowCount(connection, table);
    share += (passes * records) / (step.kind === 'retypeField' ? MAX_CONVERTED_RECORDS : MAX_SHORT_RECORDS);
    // A new column has no values.
    if (step.kind === 'addFields' || share > 1) return share > 1;
    if (records * table.fields.size > MAX_MEASURED_VALUES) return true;
    const all = table.fields
      .values()
      .filter(isLong)
      .map(({ name }) => name)
      .toArray();
    share += (passes * textBytes(connection, table, all)) / (copies(step) ? MAX_COPIED_BYTES : MAX_PASSED_BYTES);
    if (step.kind === 'setUniqueIndex') {
      // The body may rename them before.
      const { fields } = step.index;
      share += textBytes(connection, table, fields.every((name) => table.fields.has(name)) ? fields : all) / MAX_COPIED_BYTES;
    }
    return share > 1;
  });
}

/** Whether values of a field can be long. SQLite would read all of a record to measure a number. */
const isLong = (field: Field): boolean => storageOf(field) === 'text' || storageOf(field) === 'json';

/** Whether a step writes all records anew. */
const copies = ({ kind }: SchemaStep): boolean => kind === 'retypeField' || kind === 'dropFields';

const isOfTable = (kind: SchemaStep['kind']): boolean => kind === 'createTable' || kind === 'dropTable';

/** Returns the fields for which a step builds a full-text index. */
function reindexed(step: SchemaStep, { textIndex }: TableSchema): readonly string[] {
  if (step.kind === 'setTextIndex') return step.fields;
  if (step.kind === 'retypeField') return [...textIndex, step.name];
  if (step.kind !== 'dropFields' || !step.names.some((name) => textIndex.includes(name))) return [];
  return textIndex.filter((name) => !step.names.includes(name));
}

/** Returns how often a step reads all records of its table. */
function passesOf(step: SchemaStep): number {
  switch (step.kind) {
    case 'addFields':
      return step.fields.filter(
        ({ name, type, required }) => type === 'Pointer' || required || lookUpFieldsOf(step.className).has(name),
      ).length;
    case 'setFieldsOptions':
      return step.options.values().reduce((sum, { required }) => sum + (required ? 1 : 0), 0);
    case 'setIndex':
      return step.index.isFilling ? 0 : 1;
    case 'dropTable':
      return step.withRecords ? 1 : 0;
    case 'retypeField':
    case 'setTextIndex':
    case 'setUniqueIndex':
    case 'dropFields':
      return 1;
    default:
      return 0;
  }
}

/** Maximum characters of values that the event loop writes, and of an Array or Object, with operands, that operators change there. */
const MAX_SHORT_PLAN_CHARS = 2 * 1024 * 1024;
export const MAX_SHORT_EDIT_CHARS = 256 * 1024;

/** Returns whether the event loop would take long to write the values of a plan. */
export const hasLongValues = (plan: WritePlan): boolean => textLength(plan) > MAX_SHORT_PLAN_CHARS;

/**
 * Executes a plan on a separate thread. The caller holds its other writes back meanwhile.
 * @param file the thread's code; tests pass their own
 * @returns `null` if another process has changed the schema since the plan was made: nothing was done
 * @throws the errors of the plan's steps; unavailable; outcomeUnknown if the thread died in its COMMIT
 */
export function executeOnThread(task: SchemaChangeTask, file = workerFile): Promise<WriteOutcome | null> {
  return new Promise((resolve, reject) => {
    const isCommitting = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(file, { workerData: { ...task, isCommitting } satisfies SchemaChangeSetup });
    // The thread ended without an answer: it could not be started, ran out of memory, or failed.
    const ended = (cause: unknown) => {
      const { code } = cause as NodeJS.ErrnoException;
      const isPassing = storeFaultOf(cause) !== null || code?.startsWith('ERR_WORKER_');
      if (Atomics.load(isCommitting, 0) === 1) reject(inDoubtSince(cause));
      else reject(isPassing ? unavailableSince(cause) : cause);
    };
    worker.on('message', (answer: SchemaChangeAnswer) => {
      if (answer === 'overtaken') reject(new ConditionFailed());
      else if (answer === 'outdated') resolve(null);
      else if ('outcome' in answer) resolve(answer.outcome);
      else reject(receivedError(answer));
    });
    worker.once('error', ended);
    worker.once('exit', () => ended(new Error('the thread of a schema change ended early')));
  });
}

function receivedError({
  key,
  text,
  item,
  details,
  duplicate,
  cause,
}: Extract<SchemaChangeAnswer, { key: ErrorKey }>): ServiceError {
  const error = duplicate ? new DuplicateKey(duplicate.className, duplicate.index) : new ServiceError(key, text, details);
  error.item = item;
  if (cause) error.cause = receivedFault(cause);
  return error;
}
