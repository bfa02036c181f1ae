import type { ServiceError } from '../../../errors/fail.ts';
import type { RecordContext } from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import type { SourceRow } from '../columns/row.ts';
import type { CreatedRecords } from './created-records.ts';
import type { LookUp } from './lookup.ts';
import { type ImportSpec, type Task, TaskMaker } from './tasks.ts';
import { writeEach } from './writers.ts';

/** The specification of a group. */
export interface GroupSpec extends ImportSpec {
  /** Whether rows depend on records created by earlier rows. */
  readonly readsOwnWrites: boolean;
}

/** Result of a group. */
export interface GroupResult {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  /** In the order of rows. */
  readonly rejected: readonly { readonly row: SourceRow; readonly error: ServiceError }[];
  /** Number of rows by the name of what was not imported from them. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Imports the rows of a group.
 * @param context inside the group's transaction
 * @param batches rows passed to the store at once, which executes them in order
 * @throws errors that end the group, so that nothing of it is committed
 */
export async function runGroup(
  context: RecordContext,
  lookUp: LookUp,
  spec: GroupSpec,
  batches: AsyncIterable<readonly SourceRow[]>,
  createdRecords: CreatedRecords,
): Promise<GroupResult> {
  const rejected: { row: SourceRow; error: ServiceError }[] = [];
  const leftOut = new Map<string, number>();
  const maker = new TaskMaker(spec, createdRecords, (name) => leftOut.set(name, (leftOut.get(name) ?? 0) + 1));
  let created = 0;
  let updated = 0;
  let rows = 0;
  const write = async (tasks: readonly Task[]): Promise<void> => {
    const alongside = (schema: Schema): [] => {
      maker.refuseDropped(schema, tasks);
      return [];
    };
    const outcomes = await writeEach({ ...context, alongside }, spec.request.className, tasks);
    for (const [at, outcome] of outcomes.entries()) {
      const task = tasks[at] as Task;
      if ('error' in outcome) {
        rejected.push({ row: task.row, error: outcome.error });
        continue;
      }
      for (const key of task.keys) createdRecords.add(key, outcome.objectId);
      if (task.kind === 'update' || (task.kind === 'create' && task.wouldUpdate)) updated++;
      else created++;
    }
  };
  // The next batch is parsed while this one is written.
  let writing = Promise.resolve();
  try {
    for await (const batch of batches) {
      rows += batch.length;
      for (const part of maker.parts(batch)) {
        if (spec.readsOwnWrites) await writing;
        const tasks = await maker.tasks(lookUp, part);
        await writing;
        writing = write(tasks);
        // The error is thrown when the write is awaited.
        writing.catch(() => {});
      }
    }
  } finally {
    // No write may be in progress when the transaction ends.
    await writing;
  }
  return { rows, created, updated, rejected, leftOut };
}
