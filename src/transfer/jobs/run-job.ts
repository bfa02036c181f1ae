import { setTimeout as pause } from 'node:timers/promises';
import type { Principal } from '../../access/index.ts';
import { isInDoubt, isPassing, isRefusal, type ServiceError as Refusal, ServiceError } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type RecordContext, type RecordWrite, writeTogether } from '../../records/index.ts';
import { applyChanges, type SchemaChange } from '../../schema/change.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { SourceRow } from '../import/columns/row.ts';
import { type ImportPlan, refuseImport } from '../import/plan.ts';
import { WouldBeFields } from '../import/write/dry-run.ts';
import { MadeRecords } from '../import/write/made.ts';
import { importTable, nothingDone } from '../import/write/progress.ts';
import { type Task, TaskMaker } from '../import/write/tasks.ts';
import { changeJob, type JobRow, jobStep, readJob, rejectStep } from './job-rows.ts';
import { keptRow } from './kept-row.ts';
import { type JobRequest, leftOutOf, withLeftOut } from './parameters.ts';

/** Rows that are read, planned and committed at once: a few milliseconds of the event loop. */
const SLICE_ROWS = 50;
/** Characters of a slice's rows. */
const MAX_SLICE_LENGTH = 1024 * 1024;

/** Names of what is not taken over that a job tells: a document of MongoDB may have any. */
const MAX_LEFT_OUT = 50;

/** Another process carries the job out now, or it is gone. */
export class TakenOver extends Error {}

/** How a job goes beside others. */
export interface Pace {
  /** Whether to stop. */
  isEnough(): boolean;
  /** Jobs that are carried out now, this one too. */
  companions(): number;
  /** Who asked for the job, with the rights that he has now. @throws OperatorError where he has none any more */
  author(): Promise<Principal>;
}

type Counts = Pick<Required<JobRow>, 'done' | 'created' | 'updated' | 'rejected'> & {
  /** Rows of which something was not taken over, by its name. */
  readonly leftOut: ReadonlyMap<string, number>;
};

/**
 * Carries the rows of a job out, from where it is. Each commit holds some rows, all of them or none, how far the job is by them, and what was
 * refused before them. Where one row is refused the others are tried without it. Between two commits others have as long a turn, where several jobs run as long as all of them.
 * @returns whether all was done
 * @throws TakenOver; OperatorError where who asked for it is gone, what `refuseImport` throws where he may not import any more; unavailable, outcomeUnknown, timeout: the job is to go on later
 */
export async function runRows(
  context: RecordContext,
  job: JobRow,
  request: JobRequest,
  plan: ImportPlan,
  { isEnough, companions, author }: Pace,
): Promise<boolean> {
  const running = new RunningJob(context, job, request, plan);
  let left = running.counts.done;
  let slice: SourceRow[] = [];
  let length = 0;
  for await (const block of plan.read())
    for (const row of block) {
      if (left > 0) {
        left--;
        continue;
      }
      slice.push(row);
      length += row.length;
      if (slice.length < SLICE_ROWS && length < MAX_SLICE_LENGTH) continue;
      if (isEnough()) return false;
      const begun = performance.now();
      await running.carryOut(slice, author);
      slice = [];
      length = 0;
      await pause((performance.now() - begun) * companions());
    }
  if (isEnough()) return false;
  if (slice.length > 0) await running.carryOut(slice, author);
  await running.settle();
  return true;
}

class RunningJob {
  counts: Counts;
  #context: RecordContext;
  readonly #job: JobRow;
  readonly #request: JobRequest;
  readonly #made: MadeRecords;
  readonly #maker: TaskMaker;
  /** What is not taken over of rows that are read. */
  readonly #leftOut = new Map<SourceRow, string[]>();
  /** Of a dry run. */
  readonly #wouldBe: WouldBeFields;
  /** How far the stored job is. */
  #stored: number;
  /** Rows that were refused since the last commit, as they are kept. */
  #rejects: string[] = [];

  constructor(context: RecordContext, job: JobRow, request: JobRequest, { fields, linkedBy }: ImportPlan) {
    this.#context = context;
    this.#job = job;
    this.#request = request;
    this.#made = new MadeRecords(request.dryRun);
    this.#wouldBe = new WouldBeFields(request.className);
    this.#maker = new TaskMaker({ request, fields, linkedBy }, this.#made, (name, row) => {
      const names = this.#leftOut.get(row);
      if (names) names.push(name);
      else this.#leftOut.set(row, [name]);
    });
    const { done = 0, created = 0, updated = 0, rejected = 0 } = job;
    // What a dry run has seen is not kept: it begins anew.
    this.counts = request.dryRun
      ? { ...nothingDone, leftOut: new Map() }
      : { done, created, updated, rejected, leftOut: leftOutOf(job.options) };
    this.#stored = this.counts.done;
  }

  async carryOut(rows: readonly SourceRow[], author: Pace['author']): Promise<void> {
    const context = { ...this.#context, principal: await this.#orSettled(() => this.#present(author)) };
    this.#context = context;
    this.#leftOut.clear();
    for (const part of this.#maker.parts(rows)) {
      const lookUp = { context, schema: context.store.schema() };
      await this.#try(await this.#orSettled(() => this.#maker.tasks(lookUp, part)));
    }
    if (this.#request.dryRun) await this.settle();
  }

  /** Notes how far the job is, where no commit of rows has. */
  async settle(): Promise<void> {
    if (this.#stored === this.counts.done && this.#rejects.length === 0) return;
    const { store } = this.#context;
    await this.#committing(this.counts, () =>
      store.write({ plan: (schema) => ({ changes: [], mutations: this.#steps(schema, this.counts) }) }),
    );
  }

  /** Else every row that is left would be refused by itself. @throws where he is gone, or may not import any more */
  async #present(author: Pace['author']): Promise<Principal> {
    const principal = await author();
    try {
      refuseImport({ ...this.#context, principal }, this.#request);
    } catch (error) {
      await this.settle();
      throw error;
    }
    return principal;
  }

  /** What was refused before is kept where the job cannot go on. */
  async #orSettled<T>(need: () => Promise<T>): Promise<T> {
    try {
      return await need();
    } catch (error) {
      if (error instanceof OperatorError) await this.settle();
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
    // Those that were refused as they were read stand alone, in their order.
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
    const written = await this.#committing(counts, () => this.#orSettled(() => writeTogether(context, writes)));
    return written?.map(({ objectId }) => objectId) ?? [];
  }

  /** A commit that fails at its last step: nothing else is in its way. It begins with the fields that those before it would have made. */
  async #tryOut(tasks: readonly Task[]): Promise<readonly string[]> {
    let tried: { readonly schema: Schema; readonly changes: readonly SchemaChange[] } | undefined;
    const alongside = (schema: Schema, changes: readonly SchemaChange[]): Mutation[] => {
      tried = { schema, changes };
      return [{ kind: 'require', table: tableOf(schema, importTable), filter: { kind: 'never' }, missing: 'outOfStorage' }];
    };
    try {
      await writeTogether({ ...this.#context, alongside }, this.#writesOf(tasks), (schema) => this.#wouldBe.changes(schema));
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

  /** @returns `null` where a commit that had no answer was carried out after all */
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

/** The step of the job, which no write of a record fails like. */
const isMissingJob = (error: unknown): boolean => error instanceof ServiceError && error.key === 'outOfStorage';

/** The job is over. */
export async function finishJob(context: RecordContext, { objectId, run = '' }: JobRow, error: string | null): Promise<void> {
  const values = { state: error === null ? 'done' : 'failed', finishedAt: Date.now(), ...(error !== null && { error }) };
  await changeJob(context.store, objectId, values, { run });
}
