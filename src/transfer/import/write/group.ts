import type { ServiceError } from '../../../errors/fail.ts';
import type { RecordContext } from '../../../records/index.ts';
import type { Schema } from '../../../schema/model.ts';
import type { SourceRow } from '../columns/row.ts';
import type { LookUp } from './lookup.ts';
import type { MadeRecords } from './made.ts';
import { type ImportOrder, type Task, TaskMaker } from './tasks.ts';
import { writeEach } from './writers.ts';

/** What is to become of a group. */
export interface GroupOrder extends ImportOrder {
  /** Whether rows ask for what those before them have made. */
  readonly asks: boolean;
}

/** What came of a group. */
export interface GroupResult {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  /** In the order of rows. */
  readonly rejected: readonly { readonly row: SourceRow; readonly error: ServiceError }[];
  /** Rows of which something was not taken over, by its name. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/**
 * Carries out the rows of a group.
 * @param context inside its transaction
 * @param slices rows that are given to the store at once, which carries them out in their order
 * @throws what ends the group: nothing of it is done then
 */
export async function runGroup(
  context: RecordContext,
  lookUp: LookUp,
  order: GroupOrder,
  slices: AsyncIterable<readonly SourceRow[]>,
  made: MadeRecords,
): Promise<GroupResult> {
  const rejected: { row: SourceRow; error: ServiceError }[] = [];
  const leftOut = new Map<string, number>();
  const maker = new TaskMaker(order, made, (name) => leftOut.set(name, (leftOut.get(name) ?? 0) + 1));
  let created = 0;
  let updated = 0;
  let rows = 0;
  const write = async (tasks: readonly Task[]): Promise<void> => {
    const alongside = (schema: Schema): [] => {
      maker.refuseDropped(schema, tasks);
      return [];
    };
    const outcomes = await writeEach({ ...context, alongside }, order.request.className, tasks);
    for (const [at, outcome] of outcomes.entries()) {
      const task = tasks[at] as Task;
      if ('error' in outcome) {
        rejected.push({ row: task.row, error: outcome.error });
        continue;
      }
      for (const key of task.keys) made.add(key, outcome.objectId);
      if (task.kind === 'update' || (task.kind === 'create' && task.wouldUpdate)) updated++;
      else created++;
    }
  };
  // The next rows are read while these are written.
  let writing = Promise.resolve();
  try {
    for await (const slice of slices) {
      rows += slice.length;
      for (const part of maker.parts(slice)) {
        if (order.asks) await writing;
        const tasks = await maker.tasks(lookUp, part);
        await writing;
        writing = write(tasks);
        // Told when its turn comes.
        writing.catch(() => {});
      }
    }
  } finally {
    // Nothing is written any more when the transaction ends.
    await writing;
  }
  return { rows, created, updated, rejected, leftOut };
}
