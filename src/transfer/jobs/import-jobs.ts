import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { master, type Principal } from '../../access/index.ts';
import { fail, isPassing, ServiceError, serviceError } from '../../errors/fail.ts';
import type { Files, KeptBody } from '../../files/index.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Conditions } from '../../observe/index.ts';
import type { RecordContext, WriteHooks } from '../../records/index.ts';
import type { System, Systems } from '../../systems/index.ts';
import { presentUser } from '../../users/index.ts';
import { planImport } from '../import/plan.ts';
import { addJob, changeJob, dropRejects, type JobRow, unfinishedJobs } from './job-rows.ts';
import { type JobRequest, readStored, storedRequest } from './parameters.ts';
import { finishJob, runRows, TakenOver } from './run-job.ts';

/** Bytes of a body (docs/decisions.md "Import"). */
export const MAX_BODY_BYTES = 200 * 1024 * 1024;
/** Jobs of a system that are not over. */
const MAX_JOBS = 10;
/** Bodies of a system that arrive at the same time, in this process. */
const MAX_ARRIVING = 2;
/** Jobs that this process carries out at the same time, of different systems; together they leave others half of the event loop. */
const MAX_RUNNING = 8;
/** Milliseconds between two looks at what other processes have left. */
const LOOK_MS = 2_000;
/** Looks after which an open system is looked at again, whatever was seen. */
const LOOKS_PER_ROUND = 30;
/** Milliseconds until a job goes on that its store was away for. */
const RETRY_MS = 2_000;

/** What jobs stand on. */
export interface ImportJobsParts {
  readonly systems: Systems;
  readonly files: Files;
  readonly hooks: WriteHooks;
  readonly conditions: Pick<Conditions, 'met'>;
}

/** Carries out the imports of all systems that came over HTTP: one at a time of each, by one of all processes. */
export class ImportJobs {
  readonly #parts: ImportJobsParts;
  readonly #limit = pLimit(MAX_RUNNING);
  /** Systems whose jobs are this process's now. */
  readonly #working = new Map<string, Promise<void>>();
  readonly #arriving = new Map<string, number>();
  readonly #seen = new WeakSet<System>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #looks = 0;
  #processes: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(parts: ImportJobsParts) {
    this.#parts = parts;
  }

  /**
   * Takes a file and queues its import.
   * @returns the id of the job
   * @throws tooManyRequests (429) where the system has many; tooLarge (413), emptyFile (130), outOfStorage (140), unavailable
   */
  async add(system: System, context: RecordContext, request: JobRequest, bytes: AsyncIterable<Buffer>): Promise<string> {
    const { appId, store } = system;
    const arriving = this.#arriving.get(appId) ?? 0;
    if (arriving >= MAX_ARRIVING || (await unfinishedJobs(store, MAX_JOBS)).length >= MAX_JOBS) fail('tooManyRequests');
    this.#arriving.set(appId, arriving + 1);
    try {
      const { id: body } = await this.#keep(system, bytes);
      const objectId = newObjectId();
      const job = { objectId, objectClass: request.className, options: storedRequest(request, context.referer), body };
      await addJob(store, { ...job, author: authorOf(context.principal) });
      this.#begin(appId);
      return objectId;
    } finally {
      const now = (this.#arriving.get(appId) ?? 1) - 1;
      if (now === 0) this.#arriving.delete(appId);
      else this.#arriving.set(appId, now);
    }
  }

  /** Goes on with what was left undone, and looks for it now and then. */
  start(): void {
    this.#timer ??= setInterval(() => this.#look(() => this.#lookAtOpened()), LOOK_MS).unref();
    this.#look(() => this.#lookAtAll());
  }

  /** Stops after the commit that is under way; what is left goes on elsewhere, or after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
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

  #look(look: () => Promise<void>): void {
    this.#looking ??= look()
      .catch((error) => this.#tell(error))
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** Of what passes others tell. */
  #tell(error: unknown, app?: string): void {
    if (!isPassing(error)) this.#parts.conditions.met('imports could not be looked after', { app }, error);
  }

  /** After the start, and when a process is gone: it may have had jobs of any system. */
  async #lookAtAll(): Promise<void> {
    const { systems } = this.#parts;
    for (const appId of await systems.appIds()) {
      if (this.#closed) return;
      await systems.visit(appId, (system) => this.#lookAt(system)).catch((error) => this.#tell(error, appId));
    }
  }

  async #lookAtOpened(): Promise<void> {
    const isRound = ++this.#looks % LOOKS_PER_ROUND === 0;
    const opened = [...this.#parts.systems.opened()];
    if (await this.#isOneGone(opened[0])) return this.#lookAtAll();
    for (const system of opened) {
      if (this.#closed) return;
      if (isRound || !this.#seen.has(system)) await this.#lookAt(system).catch((error) => this.#tell(error, system.appId));
    }
  }

  /** @param open any that is open; now and then, while none is, one is opened for it */
  async #isOneGone(open: System | undefined): Promise<boolean> {
    const { systems } = this.#parts;
    const before = this.#processes;
    const look = async ({ store }: System) => {
      this.#processes = await store.cluster.processes();
    };
    if (open) await look(open);
    else if (this.#looks % LOOKS_PER_ROUND === 0) {
      const [appId] = await systems.appIds();
      if (appId !== undefined) await systems.visit(appId, look);
    }
    return [...before].some((one) => !this.#processes.has(one));
  }

  async #lookAt(system: System): Promise<void> {
    // Looking is no use: who looks now and then must not keep the system open.
    system.hold(false);
    try {
      if (this.#processes.size === 0) this.#processes = await system.store.cluster.processes();
      const [oldest] = await unfinishedJobs(system.store, 1);
      // Where another process carries one out, it is looked after until that is done.
      if (oldest) this.#seen.delete(system);
      else this.#seen.add(system);
      if (oldest) this.#begin(system.appId);
    } finally {
      system.release();
    }
  }

  /** Carries out what a system has, where nobody does. */
  #begin(appId: string): void {
    if (this.#closed || this.#working.has(appId)) return;
    const working = this.#limit(() => this.#work(appId))
      .catch((error) => this.#tell(error, appId))
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
        await wait(RETRY_MS, undefined, { ref: false });
      } finally {
        system.release();
      }
      if (!goesOn) return;
    }
  }

  /** @returns whether there may be more */
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
    // What the one before has still done by then is known now.
    const [now] = await unfinishedJobs(store, 1);
    if (now?.objectId !== job.objectId || now.run !== job.run) return true;
    return this.#carryOut(system, now);
  }

  async #carryOut(system: System, job: JobRow): Promise<boolean> {
    const { appId, store } = system;
    const { request, referer } = readStored(job.options);
    let context: RecordContext = { appId, store, principal: master, hooks: this.#parts.hooks, referer };
    const author = () => principalOf(system, job.author);
    const isEnough = () => this.#closed || system.isClosing;
    const pace = { isEnough, companions: () => this.#limit.activeCount, author };
    let error: string | null = null;
    try {
      context = { ...context, principal: await author() };
      const plan = await planImport(context, { name: '', read: () => this.#read(system, job) }, request);
      if (job.of !== plan.rows) await changeJob(store, job.objectId, { of: plan.rows }, { run: job.run ?? '' });
      if (request.dryRun) await dropRejects(store, job.objectId);
      if (!(await runRows(context, job, request, plan, pace))) return false;
    } catch (thrown) {
      if (thrown instanceof TakenOver) return true;
      const isTold = thrown instanceof OperatorError || thrown instanceof ServiceError;
      if (isPassing(thrown) || (!isTold && pace.isEnough())) throw thrown;
      error = isTold ? thrown.message : this.#fault(thrown, appId);
    }
    await finishJob(context, job, error);
    if (job.body !== undefined) await this.#parts.files.removeKept(system, job.body).catch((fault) => this.#tell(fault, appId));
    return true;
  }

  /** A fault of the service fails a job too: tried again and again, it would keep the imports behind it from their turn. */
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
      // What keeps files is away: the job goes on later.
      this.#tell(error, system.appId);
      fail('unavailable');
    }
  }
}

/** Who asked for a job, as it is kept. */
export function authorOf(principal: Principal): string {
  if (principal.kind === 'user') return `user:${principal.userId}`;
  return principal.kind === 'apiKey' ? `apiKey:${principal.name}` : 'master';
}

/** The same as he is now, with the rights that he has now. @throws OperatorError where he is gone or not active, or the key revoked */
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
