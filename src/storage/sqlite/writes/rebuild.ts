import { Worker } from 'node:worker_threads';
import type { FileAddresses } from '../../../config/index.ts';
import type { ErrorKey } from '../../../errors/catalogue.ts';
import { ServiceError } from '../../../errors/fail.ts';
import { type SchemaStep, stepsOf } from '../../../schema/change.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import { lookUpFieldsOf } from '../../../schema/system-tables.ts';
import { Overtaken, type WriteOutcome, type WritePlan } from '../../port.ts';
import type { Connection } from '../connection.ts';
import { isLongChange } from '../schema/ddl.ts';
import { mostRecords, textBytes } from '../table-size.ts';

/** Records of a table that are read through, to build an index or to take a column out, in little enough time for the event loop. */
const SHORT_REBUILD = 10_000;

/** Bytes of texts that a full-text index is made of in little enough time for the event loop. */
const SHORT_TEXTS = 512 * 1024;

/** Fields that a new table has in little enough time for the event loop, which may have an index each. */
const FEW_FIELDS = 200;

const workerFile = new URL('./rebuild-worker.ts', import.meta.url);

/** What the thread is started with: a plan, made under the schema that the catalogue's version names. */
export interface Rebuild {
  readonly path: string;
  readonly plan: WritePlan;
  readonly catalogVersion: number;
  readonly addresses: FileAddresses;
}

/** What the thread says: the outcome, or the error of the catalogue that refused the plan, or that a condition of it does not hold. */
export type RebuildAnswer = 'overtaken' | { readonly outcome: WriteOutcome } | { readonly key: ErrorKey; readonly text: string };

/** Whether a plan goes through all records of a large table, or is about many columns, which would hold up every request for as long. */
export function isRebuild(connection: Connection, plan: WritePlan, schema: Schema): boolean {
  if (plan.changes.length === 0) return false;
  return stepsOf(plan.changes).some((step) => {
    if (step.kind === 'setTemplateVersion') return false;
    if (step.kind === 'createTable') return (step.fields?.length ?? 0) > FEW_FIELDS;
    const table = schema.tables.get(step.className);
    if (table === undefined) return false;
    if ((step.kind === 'addFields' || step.kind === 'dropFields') && isLongChange(step, table)) return true;
    if (readsAll(step) && mostRecords(connection, table) > SHORT_REBUILD) return true;
    return textBytes(connection, table, reindexed(step, table)) > SHORT_TEXTS;
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
  return step.kind === 'setIndex' || step.kind === 'setTextIndex' || step.kind === 'dropFields';
}

/** Carries a plan out on a thread of its own. The caller keeps its other writes back until then. @throws what the plan's steps throw */
export function rebuildOnThread(rebuild: Rebuild): Promise<WriteOutcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerFile, { workerData: rebuild });
    worker.once('message', (answer: RebuildAnswer) => {
      if (answer === 'overtaken') reject(new Overtaken());
      else if ('outcome' in answer) resolve(answer.outcome);
      else reject(new ServiceError(answer.key, answer.text));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread of a schema change ended early')));
  });
}
