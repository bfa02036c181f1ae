import { setTimeout as pause } from 'node:timers/promises';
import type { Principal } from '../../access/index.ts';
import { isInDoubt, isPassing, isRefusal, type ServiceError as Refusal, ServiceError } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type RecordContext, type RecordWrite, writeAtomically } from '../../records/index.ts';
import { applyChanges, type SchemaChange } from '../../schema/change.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { SourceRow } from '../import/columns/row.ts';
import { type ImportPlan, refuseImport } from '../import/plan.ts';
import { CreatedRecords } from '../import/write/created-records.ts';
import { WouldBeFields } from '../import/write/dry-run.ts';
import { importTable, nothingDone } from '../import/write/progress.ts';
import { type Task, TaskMaker } from '../import/write/tasks.ts';
import { changeJob, type JobRow, jobStep, readJob, rejectStep } from './job-rows.ts';
import { keptRow } from './kept-row.ts';
import { type JobRequest, leftOutOf, withLeftOut } from './parameters.ts';

/** Rows read, planned and committed at once: a few milliseconds of the event loop. */
const BATCH_ROWS = 50;
/** Maximum number of characters of a batch. */
const MAX_BATCH_LENGTH = 1024 * 1024;

/** Maximum number of names of unimported content that a job lists: a MongoDB document may have any number. */
export const MAX_LEFT_OUT = 50;

/** Another process executes the job now, or the job was deleted. */
export class TakenOver extends Error {}

/** How a job shares the process with others. */
export interface Pace {
  /** Whether to stop. */
  shouldStop(): boolean;
  /** Number of jobs in execution, including this one. */
  companions(): number;
  /** Returns the requester with current rights. @throws OperatorError if these are gone */
  author(): Promise<Principal>;
}

type Counts = Pick<Required<JobRow>, 'done' | 'created' | 'updated' | 'rejected'> & {
  /** Number of rows by the name of what was not imported from them. */
  readonly leftOut: ReadonlyMap<string, number>;
};

/**
 * Imports the rows of a job, continuing from its stored progress. Each commit atomically contains a batch of rows, the progress and the rows rejected
 * before.
 * If a row is refused, the batch is split and the others are retried without it. Between commits, the job pauses so that other work gets as much time
 * as
 * all running jobs together.
 * @returns whether all rows were handled
 * @throws TakenOver; OperatorError if the requester is gone, errors of `refuseImport` if it may no longer import; unavailable, outcomeUnknown,
 * timeout: the
 *   job must continue later
 */
export async function runRows(
  context: RecordContext,
  job: JobRow,
  request: JobRequest,
  plan: ImportPlan,
  { shouldStop, companions, author }: Pace,
): Promise<boolean> {
  const running = new RunningJob(context, job, request, plan);
  let left = running.counts.done;
  let batch: SourceRow[] = [];
  let length = 0;
  for await (const block of plan.read())
    for (const row of block) {
      if (left > 0) {
        left--;
        continue;
      }
      batch.push(row);
      length += row.length;
      if (batch.length < BATCH_ROWS && length < MAX_BATCH_LENGTH) continue;
      if (shouldStop()) return false;
      const begun = performance.now();
      await running.execute(batch, author);
      batch = [];
      length = 0;
      await pause((performance.now() - begun) * companions());
    }
  if (shouldStop()) return false;
  if (batch.length > 0) await running.execute(batch, author);
  await running.storeProgress();
  return true;
}

class RunningJob {
  counts: Counts;
  #context: RecordContext;
  readonly #job: JobRow;
  readonly #request: JobRequest;
  readonly #made: CreatedRecords;
  readonly #maker: TaskMaker;
  /** By row: names of what is not imported from it. */
  readonly #leftOut = new Map<SourceRow, string[]>();
  /** For a dry run. */
  readonly #wouldBe: WouldBeFields;
  /** Progress in the stored job. */
  #stored: number;
  /** Rows rejected since the last commit, in stored form. */
  #rejects: string[] = [];

  constructor(context: RecordContext, job: JobRow, request: JobRequest, { fields, linkedBy }: ImportPlan) {
    this.#context = context;
    this.#job = job;
    this.#request = request;
    this.#made = new CreatedRecords(request.dryRun);
    this.#wouldBe = new WouldBeFields(request.className);
    this.#maker = new TaskMaker({ request, fields, linkedBy }, this.#made, (name, row) => {
      const names = this.#leftOut.get(row);
      if (names) names.push(name);
      else this.#leftOut.set(row, [name]);
    });
    const { done = 0, created = 0, updated = 0, rejected = 0 } = job;
    // A dry run stores no fields, so it must restart from the first row.
    this.counts = request.dryRun
      ? { ...nothingDone, leftOut: new Map() }
      : { done, created, updated, rejected, leftOut: leftOutOf(job.options) };
    this.#stored = this.counts.done;
  }

  async execute(rows: readonly SourceRow[], author: Pace['author']): Promise<void> {
    const context = { ...this.#context, principal: await this.#orStoreProgress(() => this.#present(author)) };
    this.#context = context;
    this.#leftOut.clear();
    for (const part of this.#maker.parts(rows)) {
      const lookUp = { context, schema: context.store.schema() };
      await this.#try(await this.#orStoreProgress(() => this.#maker.tasks(lookUp, part)));
    }
    if (this.#request.dryRun) await this.storeProgress();
  }

  /** Stores the progress if no commit of rows has done so. */
  async storeProgress(): Promise<void> {
    if (this.#stored === this.counts.done && this.#rejects.length === 0) return;
    const { store } = this.#context;
    await this.#committing(this.counts, () =>
      store.write({ plan: (schema) => ({ changes: [], mutations: this.#steps(schema, this.counts) }) }),
    );
  }

  /** Checks the requester's rights before each batch; otherwise every remaining row would be rejected individually. @throws if they are gone */
  async #present(author: Pace['author']): Promise<Principal> {
    const principal = await author();
    try {
      refuseImport({ ...this.#context, principal }, this.#request);
    } catch (error) {
      await this.storeProgress();
      throw error;
    }
    return principal;
  }

  /** Stores rejected rows before the job fails. */
  async #orStoreProgress<T>(need: () => Promise<T>): Promise<T> {
    try {
      return await need();
    } catch (error) {
      if (error instanceof OperatorError) await this.storeProgress();
      throw error;
    }
  }

  async #try(tasks: readonly Task[]): Promise<void> {
    try {
      await this.#commit(tasks);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [only] = tasks;
      if (tasks.length > 1) {
        const half = tasks.length >> 1;
        await this.#try(tasks.slice(0, half));
        await this.#try(tasks.slice(half));
      } else if (only) this.#reject(only.row, error);
    }
  }

  async #commit(tasks: readonly Task[]): Promise<void> {
    // Rows that failed to parse are isolated by splitting, in their order.
    const [first] = tasks;
    const refused = tasks.find((task) => task.kind === 'reject');
    if (refused) {
      if (tasks.length === 1 && first?.kind === 'reject') throw first.error;
      throw refused.error;
    }
    if (tasks.length === 0) return;
    const updated = tasks.filter((task) => task.kind === 'update' || (task.kind === 'create' && task.wouldUpdate)).length;
    const { done, created, updated: before, rejected } = this.counts;
    const leftOut = this.#leftOutWith(tasks.map(({ row }) => row));
    const counts = {
      ...{ done: done + tasks.length, created: created + tasks.length - updated, updated: before + updated, rejected },
      leftOut,
    };
    const written = this.#request.dryRun ? await this.#tryOut(tasks) : await this.#write(tasks, counts);
    tasks.forEach((task, at) => {
      for (const key of task.keys) this.#made.add(key, written[at] ?? '');
    });
    this.#made.next();
    this.counts = counts;
  }

  async #write(tasks: readonly Task[], counts: Counts): Promise<readonly string[]> {
    const writes = this.#writesOf(tasks);
    const alongside = (schema: Schema) => {
      this.#maker.refuseDropped(schema, tasks);
      return this.#steps(schema, counts);
    };
    const context = { ...this.#context, alongside };
    const written = await this.#committing(counts, () => this.#orStoreProgress(() => writeAtomically(context, writes)));
    return written?.map(({ objectId }) => objectId) ?? [];
  }

  /** A dry run: the last mutation fails, so nothing is stored. The commit begins with the fields that earlier rows would have added. */
  async #tryOut(tasks: readonly Task[]): Promise<readonly string[]> {
    let tried: { readonly schema: Schema; readonly changes: readonly SchemaChange[] } | undefined;
    const alongside = (schema: Schema, changes: readonly SchemaChange[]): Mutation[] => {
      tried = { schema, changes };
      return [{ kind: 'require', table: tableOf(schema, importTable), filter: { kind: 'never' }, missing: 'outOfStorage' }];
    };
    try {
      await writeAtomically({ ...this.#context, alongside }, this.#writesOf(tasks), (schema) => this.#wouldBe.changes(schema));
    } catch (error) {
      if (!isMissingJob(error)) throw error;
    }
    if (tried && tried.changes.length > 0) this.#wouldBe.learn(tried.schema, applyChanges(tried.schema, tried.changes));
    return [];
  }

  #writesOf(tasks: readonly Task[]): RecordWrite[] {
    const { className } = this.#request;
    return tasks.flatMap((task): RecordWrite[] => {
      if (task.kind === 'update') return [{ kind: 'update', className, objectId: task.objectId, body: task.body }];
      return task.kind === 'create' ? [{ kind: 'create', className, body: task.body, known: task.known }] : [];
    });
  }

  #steps(schema: Schema, counts: Counts): Mutation[] {
    const { objectId, run = '' } = this.#job;
    const { leftOut, ...numbers } = counts;
    const options = leftOut.size > 0 && { options: withLeftOut(this.#job.options, leftOut) };
    const step = jobStep(schema, objectId, { ...numbers, ...options }, { run, done: this.#stored });
    if (this.#rejects.length === 0) return [step];
    return [step, rejectStep(schema, objectId, newObjectId(), counts.rejected, this.#rejects.join(''))];
  }

  /** Executes a commit. @returns `null` if a commit whose outcome was unknown turns out to have succeeded */
  async #committing<T>(counts: Counts, commit: () => Promise<T>): Promise<T | null> {
    let result: T | null = null;
    try {
      result = await commit();
    } catch (error) {
      if (!isMissingJob(error) && !(isPassing(error) && isInDoubt(error))) throw error;
      const now = await readJob(this.#context.store, this.#job.objectId);
      if (now?.run !== this.#job.run) throw new TakenOver();
      if ((now?.done ?? 0) < counts.done) throw error;
    }
    this.#stored = counts.done;
    this.#rejects = [];
    return result;
  }

  #reject(row: SourceRow, error: Refusal): void {
    this.#rejects.push(
      `${JSON.stringify({ line: row.number, code: error.code, error: error.message, row: keptRow(row, this.#request.className) })}\n`,
    );
    const { done, rejected } = this.counts;
    this.counts = { ...this.counts, done: done + 1, rejected: rejected + 1, leftOut: this.#leftOutWith([row]) };
  }

  #leftOutWith(rows: readonly SourceRow[]): ReadonlyMap<string, number> {
    const names = rows.flatMap((row) => this.#leftOut.get(row) ?? []);
    if (names.length === 0) return this.counts.leftOut;
    const sum = new Map(this.counts.leftOut);
    for (const name of names) if (sum.has(name) || sum.size < MAX_LEFT_OUT) sum.set(name, (sum.get(name) ?? 0) + 1);
    return sum;
  }
}

/** Whether the mutation of the job failed; no record write fails this way. */
const isMissingJob = (error: unknown): boolean => error instanceof ServiceError && error.key === 'outOfStorage';

/** Records the end of a job. */
export async function finishJob(context: RecordContext, { objectId, run = '' }: JobRow, error: string | null): Promise<void> {
  const values = { state: error === null ? 'done' : 'failed', finishedAt: Date.now(), ...(error !== null && { error }) };
  await changeJob(context.store, objectId, values, { run });
}
