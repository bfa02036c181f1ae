import { anonymous, master } from '../access/index.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import { endOfWrite } from '../errors/system-faults.ts';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import type { Logger } from '../observe/index.ts';
import { type Cause, functionReferer, type RecordContext, type WriteHooks } from '../records/index.ts';
import { type FunctionRecord, OperatorFunctions, queueCall } from './custom/index.ts';
import type { FunctionCall, FunctionSystem, FunctionTrigger } from './custom/model.ts';
import { forms } from './forms/index.ts';
import type { FormFunction } from './forms/input.ts';

/** What functions stand on. */
export interface FunctionsParts {
  /** Where the operator's functions are (FUNCTIONS_DIR), absolute; may be missing. */
  readonly directory: string;
  /** Of an operator's function, in milliseconds. */
  readonly timeLimit: number;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Given errors of the service's own that nobody caught; the process is to end after one. */
  readonly fault: (error: unknown) => void;
}

/** The server-side functions: the service's own forms, and the operator's. SPEC "Server-side functions"; CONTRACT "Operator's functions". */
export class Functions {
  readonly #hooks: WriteHooks;
  readonly #operator: OperatorFunctions;
  #leaving: NodeJS.Timeout | undefined;

  constructor(parts: FunctionsParts) {
    this.#hooks = parts.hooks;
    this.#operator = new OperatorFunctions({ ...parts, isReserved: (name) => forms.has(name) });
  }

  /** Reads the operator's functions once, so that what cannot be loaded is told at the start. */
  load(): Promise<void> {
    return this.#operator.load();
  }

  /**
   * Calls a function.
   * @param call reads the call; asked when the name is known, so that its errors come after
   * @returns JSON text of the answer's body
   * @throws userFunctionNotFound; what `call` throws; what the function throws: formDisabled, missingInput, functionFailed,
   *   functionTimeout, errors of values and records; unavailable where too many calls of the system wait
   */
  async call(system: FunctionSystem, name: string, call: () => FunctionCall): Promise<string> {
    const form = forms.get(name);
    if (form) return JSON.stringify(await this.#fill(form, system, name, call().input));
    const found = (await this.#operator.find(name, system.appId)) ?? fail('userFunctionNotFound');
    const asked = call();
    const { input, isForm, request } = asked;
    const user = await asked.user();
    const attacher = await asked.caller();
    const given = { input, isForm, request, user, attacher, record: null, trigger: null };
    const result = await queueCall(system.store, request, () => this.#operator.run(system, found, given));
    return `{"result":${JSON.stringify(result)}}`;
  }

  /**
   * Calls a function of the operator for a record (CONTRACT "Triggers": `server-side-code`).
   * @param record the function gets a copy
   * @param cause of what the function writes
   * @throws userFunctionNotFound, also for a form; internal (500) where no version of its file could be loaded; functionFailed, functionTimeout
   */
  async callForRecord(
    system: FunctionSystem,
    name: string,
    record: FunctionRecord,
    trigger: FunctionTrigger,
    cause: Cause,
  ): Promise<JsonValue> {
    const found = (forms.has(name) ? null : await this.#operator.find(name, system.appId)) ?? fail('userFunctionNotFound');
    const attacher = anonymous;
    const given = {
      input: {},
      isForm: false,
      request: null,
      user: null,
      attacher,
      record: structuredClone(record),
      trigger,
      cause,
    };
    return this.#operator.run(system, found, given);
  }

  /** The service ends. Calls under way have so many milliseconds; then they are given up, and their callers hear `unavailable`. */
  leave(atMost: number): void {
    this.#leaving ??= setTimeout(() => this.#operator.end(), atMost).unref();
  }

  /** @throws what the form throws; formTooLarge where PostgreSQL does not take a value */
  async #fill(form: FormFunction, system: FunctionSystem, name: string, input: JsonObject): Promise<JsonValue> {
    try {
      return await form(this.#contextOf(system, name), input);
    } catch (error) {
      if (error instanceof ServiceError && error.key === 'valueTooLarge') fail('formTooLarge');
      throw endOfWrite(error);
    }
  }

  /** SPEC "Server-side functions": forms write with full rights. Files that they name have to be anybody's: their senders are nobody. */
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
