import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { master, type Principal } from '../../access/index.ts';
import { newAct } from '../../acts/index.ts';
import { actorOf } from '../../audit/index.ts';
import { fail, isPassing, ServiceError, serviceError } from '../../errors/fail.ts';
import { TooManyRequests } from '../../errors/too-many-requests.ts';
import type { Files, KeptBody } from '../../files/index.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Conditions } from '../../observe/index.ts';
import type { RecordContext, WriteHooks } from '../../records/index.ts';
import type { SearchPart, System, Systems } from '../../systems/index.ts';
import { presentUser } from '../../users/index.ts';
import { planImport } from '../import/plan.ts';
import { addJob, changeJob, dropRejects, type JobRow, unfinishedJobs, unfinishedRows } from './job-rows.ts';
import { type JobRequest, readStored, storedRequest } from './parameters.ts';
import { finishJob, runRows, TakenOver } from './run-job.ts';

/** `Retry-After` of a refused job: a job takes seconds to minutes. */
const RETRY_AFTER_SECONDS = 30;
/** Maximum size of a request body. Reference: import.md#import-jobs. */
export const MAX_BODY_BYTES = 200 * 1024 * 1024;
/** Maximum number of unfinished jobs per system. */
export const MAX_JOBS = 10;
/** Maximum number of bodies received concurrently per system and process. */
export const MAX_ARRIVING = 2;
/** Maximum number of systems whose jobs this process executes concurrently; together they use at most half of the event loop. */
export const MAX_RUNNING = 8;
/** Interval for checking for jobs left by other processes. */
const POLL_INTERVAL_MS = 2_000;
/** Every this many polls, all open systems are checked, whatever was seen before. */
const POLLS_PER_ROUND = 30;
/** Delay before a job continues after its store was unavailable. */
const RETRY_DELAY_MS = 2_000;

/** Dependencies of import jobs. */
export interface ImportJobsParts {
  readonly systems: Systems;
  readonly files: Files;
  readonly hooks: WriteHooks;
  readonly conditions: Pick<Conditions, 'met'>;
}

/** Executes the import jobs of all systems: one job at a time per system, in one of all processes. */
export class ImportJobs {
  /** Part of the search of all systems, at the start and when a process has ended, which may have left jobs in any of them. */
  readonly searched: SearchPart = {
    rows: unfinishedRows,
    visit: (system) => this.#check(system).catch((error) => this.#report(error, system.appId)),
  };
  readonly #parts: ImportJobsParts;
  readonly #limit = pLimit(MAX_RUNNING);
  /** Systems whose jobs this process executes now. */
  readonly #working = new Map<string, Promise<void>>();
  readonly #arriving = new Map<string, number>();
  readonly #seen = new WeakSet<System>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #polls = 0;
  #closed = false;

  constructor(parts: ImportJobsParts) {
    this.#parts = parts;
  }

  /**
   * Stores a file and queues its import.
   * @returns the id of the job
   * @throws tooManyRequests (429) if the system has too many jobs; tooLarge (413), emptyFile (130), outOfStorage (140), unavailable
   */
  async add(system: System, context: RecordContext, request: JobRequest, bytes: AsyncIterable<Buffer>): Promise<string> {
    const { appId, store } = system;
    // Counted before the first await, so that requests of the same moment see each other.
    const arriving = (this.#arriving.get(appId) ?? 0) + 1;
    if (arriving > MAX_ARRIVING) throw new TooManyRequests(RETRY_AFTER_SECONDS);
    this.#arriving.set(appId, arriving);
    try {
      const unfinished = await unfinishedJobs(store, MAX_JOBS);
      if (unfinished.length + arriving > MAX_JOBS) throw new TooManyRequests(RETRY_AFTER_SECONDS);
      const { id: body } = await this.#keep(system, bytes);
      const objectId = newObjectId();
      const job = { objectId, objectClass: request.className, options: storedRequest(request, context.referer), body };
      const { className, dryRun, matchOn } = request;
      const after = { job: objectId, matchOn: [...matchOn] };
      const act = dryRun ? null : newAct({ act: 'import', subject: className, after }, actorOf(context));
      await addJob(store, { ...job, author: authorOf(context.principal) }, act);
      this.#begin(appId);
      return objectId;
    } finally {
      const now = (this.#arriving.get(appId) ?? 1) - 1;
      if (now === 0) this.#arriving.delete(appId);
      else this.#arriving.set(appId, now);
    }
  }

  /** Polls the open systems for unfinished jobs. */
  start(): void {
    this.#timer ??= setInterval(() => this.#poll(), POLL_INTERVAL_MS).unref();
  }

  /** Stops after the commit in progress; the rest continues in another process or after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#polling;
    await Promise.all(this.#working.values());
  }

  async #keep(system: System, bytes: AsyncIterable<Buffer>): Promise<KeptBody> {
    try {
      return await this.#parts.files.keep(system, bytes, MAX_BODY_BYTES);
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'fileTooLarge') fail('tooLarge');
      throw error;
    }
  }

  #poll(): void {
    this.#polling ??= this.#checkOpened()
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#polling = undefined;
      });
  }

  /** Reports a fault, except passing ones, which are reported elsewhere. */
  #report(error: unknown, app?: string): void {
    if (!isPassing(error)) this.#parts.conditions.met('imports could not be looked after', { app }, error);
  }

  async #checkOpened(): Promise<void> {
    const isRound = ++this.#polls % POLLS_PER_ROUND === 0;
    for (const system of this.#parts.systems.opened()) {
      if (this.#closed) return;
      if (isRound || !this.#seen.has(system)) await this.#check(system).catch((error) => this.#report(error, system.appId));
    }
  }

  async #check(system: System): Promise<void> {
    // The check must not count as use, or the system would never be closed as idle.
    system.hold(false);
    try {
      const [oldest] = await unfinishedJobs(system.store, 1);
      // While another process executes a job, the system stays on the list until the job is done.
      if (oldest) this.#seen.delete(system);
      else this.#seen.add(system);
      if (oldest) this.#begin(system.appId);
    } finally {
      system.release();
    }
  }

  /** Starts executing a system's jobs, unless this process does already. */
  #begin(appId: string): void {
    if (this.#closed || this.#working.has(appId)) return;
    const working = this.#limit(() => this.#work(appId))
      .catch((error) => this.#report(error, appId))
      .finally(() => this.#working.delete(appId));
    this.#working.set(appId, working);
  }

  async #work(appId: string): Promise<void> {
    while (!this.#closed) {
      const system = await this.#parts.systems.acquire(appId);
      if (!system) return;
      let goesOn: boolean;
      try {
        goesOn = await this.#next(system);
      } catch (error) {
        if (!isPassing(error)) throw error;
        goesOn = true;
        await wait(RETRY_DELAY_MS, undefined, { ref: false });
      } finally {
        system.release();
      }
      if (!goesOn) return;
    }
  }

  /** Executes the next job. @returns whether there may be more */
  async #next(system: System): Promise<boolean> {
    const { store } = system;
    const [oldest] = await unfinishedJobs(store, 1);
    if (!oldest) return false;
    const me = store.cluster.processId;
    const { owner = '', run = '' } = oldest;
    if (owner !== '' && owner !== me && (await store.cluster.processes()).has(owner)) return false;
    const job: JobRow = { ...oldest, owner: me, run: newObjectId() };
    try {
      await changeJob(store, job.objectId, { owner: me, run: job.run ?? '', state: 'running' }, { run, owner });
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'outOfStorage') return true;
      throw error;
    }
    // Re-read: the previous process may have made progress before the take-over.
    const [now] = await unfinishedJobs(store, 1);
    if (now?.objectId !== job.objectId || now.run !== job.run) return true;
    return this.#execute(system, now);
  }

  async #execute(system: System, job: JobRow): Promise<boolean> {
    const { appId, store } = system;
    const { request, referer } = readStored(job.options);
    let context: RecordContext = { appId, store, principal: master, hooks: this.#parts.hooks, referer };
    const author = () => principalOf(system, job.author);
    const shouldStop = () => this.#closed || system.isClosing;
    const pace = { shouldStop, companions: () => this.#limit.activeCount, author };
    let error: string | null = null;
    try {
      context = { ...context, principal: await author() };
      const plan = await planImport(context, { name: '', read: () => this.#read(system, job) }, request);
      if (job.of !== plan.rows) await changeJob(store, job.objectId, { of: plan.rows }, { run: job.run ?? '' });
      if (request.dryRun) await dropRejects(store, job.objectId);
      if (!(await runRows(context, job, request, plan, pace))) return false;
    } catch (thrown) {
      if (thrown instanceof TakenOver) return true;
      const isReported = thrown instanceof OperatorError || thrown instanceof ServiceError;
      if (isPassing(thrown) || (!isReported && pace.shouldStop())) throw thrown;
      error = isReported ? thrown.message : this.#fault(thrown, appId);
    }
    await finishJob(context, job, error);
    if (job.body !== undefined) await this.#parts.files.removeKept(system, job.body).catch((fault) => this.#report(fault, appId));
    return true;
  }

  /** A fault of the service fails the job too: with endless retries it would block the imports behind it. */
  #fault(thrown: unknown, app: string): string {
    this.#parts.conditions.met('an import failed by a fault', { app }, thrown);
    return serviceError('internal').message;
  }

  async *#read(system: System, { body = '' }: JobRow): AsyncGenerator<Buffer> {
    try {
      const bytes = await this.#parts.files.openKept(system, body);
      if (!bytes) throw new OperatorError('the file of the import is gone');
      yield* bytes as AsyncIterable<Buffer>;
    } catch (error) {
      if (error instanceof OperatorError || error instanceof ServiceError) throw error;
      // The file store is unavailable: the job continues later.
      this.#report(error, system.appId);
      fail('unavailable');
    }
  }
}

/** Returns the principal that requested a job, in stored form. */
export function authorOf(principal: Principal): string {
  if (principal.kind === 'user') return `user:${principal.userId}`;
  return principal.kind === 'apiKey' ? `apiKey:${principal.name}` : 'master';
}

/** Returns the principal with its current rights. @throws OperatorError if the user is gone or not active, or the key revoked */
async function principalOf({ store, registration }: System, author: string): Promise<Principal> {
  if (author === 'master') return master;
  const [, kind, name = ''] = /^(user|apiKey):(.*)$/s.exec(author) ?? [];
  if (kind === 'apiKey') {
    if (!registration.hasApiKey(name)) throw new OperatorError('the key that asked for the import was revoked');
    return { kind, name };
  }
  const user = await presentUser(store, name);
  if (!user) throw new OperatorError('the user who asked for the import is gone or not active');
  return user;
}
