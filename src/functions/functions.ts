import { anonymous, master } from '../access/index.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import { errorOfWrite } from '../errors/system-faults.ts';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { type Logger, type Observations, traced } from '../observe/index.ts';
import {
  type Cause,
  functionReferer,
  knownDuplicate,
  type Progress,
  type RecordContext,
  type WriteHooks,
} from '../records/index.ts';
import { asCallable } from './check.ts';
import type { FunctionCall, FunctionSystem, FunctionTrigger } from './custom/api/model.ts';
import { CustomFunctions, type FunctionRecord, queueCall } from './custom/index.ts';
import { forms } from './forms/index.ts';
import type { FormFunction } from './forms/input.ts';

/** The dependencies of functions. */
export interface FunctionsParts {
  /** Directory of custom functions (FUNCTIONS_DIR), absolute; it may be missing. */
  readonly directory: string;
  /** Time limit of a custom function in milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  /** Memory that a thread of custom functions may use, in MiB. */
  readonly memoryMb: number;
  /** The environment variables of custom functions. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly observations?: Observations;
}

/** A custom function as its callers see it. */
export interface CallableFunction {
  readonly name: string;
  /** JSON Schema of its input; left out: any object. */
  readonly input?: JsonObject;
}

/** The server-side functions: built-in forms (functions.md#forms) and custom functions (functions.md#custom-functions). */
export class Functions {
  readonly #hooks: WriteHooks;
  readonly #observations: Observations | undefined;
  readonly #custom: CustomFunctions;
  #abortTimer: NodeJS.Timeout | undefined;

  constructor(parts: FunctionsParts) {
    this.#hooks = parts.hooks;
    this.#observations = parts.observations;
    this.#custom = new CustomFunctions({ ...parts, isReserved: (name) => forms.has(name) });
  }

  /** Loads the custom functions once, so that failures are logged at the start. */
  load(): Promise<void> {
    return this.#custom.load();
  }

  /** Returns the custom functions that a system may call, by name. */
  async customOf(appId: string): Promise<CallableFunction[]> {
    const found = await this.#custom.all(appId);
    return found.map(asCallable);
  }

  /**
   * Calls a function.
   * @param call parses the call; invoked after the name has been resolved, so that its errors come later
   * @returns JSON text of the response body
   * @throws userFunctionNotFound; errors of `call`; errors of the function: formDisabled, missingInput, functionFailed, functionTimeout, errors of
   *   values and records; unavailable if too many calls of the system wait
   */
  async call(system: FunctionSystem, name: string, call: () => FunctionCall | Promise<FunctionCall>): Promise<string> {
    const form = forms.get(name);
    if (form) {
      const { input, once } = await call();
      const execute = async (extend: (context: RecordContext) => RecordContext) =>
        JSON.stringify(await this.#timed(name, () => this.#runForm(form, extend(this.#contextOf(system, name)), input)));
      return once ? once.form(execute) : execute((context) => context);
    }
    const found = (await this.#custom.find(name, system.appId)) ?? fail('userFunctionNotFound');
    const callInput = await call();
    const { input, isForm, request, once } = callInput;
    const user = await callInput.user();
    const attacher = await callInput.caller();
    const given = { input, isForm, request, user, attacher, record: null, trigger: null };
    const execute = async (progress?: Progress) => {
      const run = () => this.#timed(name, () => this.#custom.run(system, found, progress ? { ...given, progress } : given));
      return `{"result":${await queueCall(system.store, request, run)}}`;
    };
    return once ? once.custom(execute) : execute();
  }

  /**
   * Calls a custom function for a record (triggers.md#server-side-code).
   * @param record the function gets a copy
   * @param cause recorded as the cause of the function's writes
   * @throws userFunctionNotFound, also for a form; internal (500) if no version of its file could be loaded; functionFailed, functionTimeout
   */
  async callForRecord(
    system: FunctionSystem,
    name: string,
    record: FunctionRecord,
    trigger: FunctionTrigger,
    cause: Cause,
  ): Promise<JsonValue> {
    const found = (forms.has(name) ? null : await this.#custom.find(name, system.appId)) ?? fail('userFunctionNotFound');
    const given = { input: {}, isForm: false, request: null, user: null, attacher: anonymous, record, trigger, cause };
    return JSON.parse(await this.#timed(name, () => this.#custom.run(system, found, given)));
  }

  /** Runs a function and observes how long that takes. @param name of a function that exists */
  async #timed<T>(name: string, run: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await traced(`function ${name}`, { 'rds.function': name }, run);
    } finally {
      this.#observations?.observe({ kind: 'function', name, ms: performance.now() - began });
    }
  }

  /** Begins the shutdown: running calls have this many milliseconds; then they are aborted and their callers get `unavailable`. */
  leave(graceMs: number): void {
    this.#abortTimer ??= setTimeout(() => this.#custom.abort(), graceMs).unref();
  }

  /** Ends the threads of the custom functions, and what these have left behind. */
  close(): Promise<void> {
    return this.#custom.close();
  }

  /** @throws errors of the form; formTooLarge if PostgreSQL does not accept a value */
  async #runForm(form: FormFunction, context: RecordContext, input: JsonObject): Promise<JsonValue> {
    try {
      return await form(context, input);
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'valueTooLarge') fail('formTooLarge');
      // The sender learns no more of a unique index than an anonymous caller may know.
      throw errorOfWrite(knownDuplicate(error, { ...context, principal: anonymous }));
    }
  }

  /** Forms write with full rights, but their senders are anonymous, so they cannot attach private files (functions.md#forms). */
  #contextOf({ appId, store }: FunctionSystem, name: string): RecordContext {
    return {
      appId,
      store,
      principal: master,
      attacher: anonymous,
      keepsSchema: true,
      hooks: this.#hooks,
      referer: functionReferer(name),
    };
  }
}
