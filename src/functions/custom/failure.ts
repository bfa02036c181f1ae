import { isInDoubt, isUnavailable, ServiceError, serviceError } from '../../errors/fail.ts';

/** What callers hear where the reason is not theirs to know. */
const UNTOLD = 'The function failed.';
/** Characters that a caller hears. */
const MAX_SHOWN_LENGTH = 1_000;
/** Characters of a message and of a stack in the log. */
const MAX_LOGGED_LENGTHS = { message: 2_000, stack: 8_000 };
/** How many causes, each of the one before, the log has. */
const MAX_CAUSES = 4;

/** A fault of the service that a function met. It was logged where it happened. */
export class ServiceFault extends Error {
  constructor() {
    super('server error');
    this.name = 'ServiceFault';
  }
}

/** What a function threw, in objects of the service's own. */
export interface Failure {
  /**
   * What the caller sees of it, a functionFailed: its message, but for faults of the service and errors of the operating system and of
   * Node, which may name paths and statements (docs/decisions.md "Functions and forms").
   */
  readonly shown: ServiceError;
  readonly logged: Error;
}

/** What the store met under a function that did not see to it: a fault that passes. `null` for whatever else was thrown. Never throws. */
export function passingFaultIn(thrown: unknown): 'unavailable' | 'outcomeUnknown' | null {
  if (!isA(thrown, ServiceError)) return null;
  return isUnavailable(thrown) ? 'unavailable' : isInDoubt(thrown) ? 'outcomeUnknown' : null;
}

/**
 * JavaScript throws anything: proxies, frozen errors, getters that throw, texts of many megabytes. Nothing of it leaves the functions
 * but this. Never throws.
 */
export function failureOf(thrown: unknown): Failure {
  return {
    shown: serviceError('functionFailed', bounded(shownMessage(thrown), MAX_SHOWN_LENGTH) || UNTOLD),
    logged: plainError(thrown, 0),
  };
}

/** A text of no more than so many characters; one that is cut ends in `…`. Well-formed. */
export function bounded(text: string, longest: number): string {
  if (text.length <= longest) return text.toWellFormed();
  // No half of a pair at the cut.
  return `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`.toWellFormed();
}

/** Empty where there is none to be shown. */
function shownMessage(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (isA(thrown, ServiceFault)) return '';
  if (!isA(thrown, ServiceError) && isOfPlatform(propertyOf(thrown, 'code'), propertyOf(thrown, 'syscall'))) return '';
  const message = propertyOf(thrown, 'message');
  return typeof message === 'string' ? message : '';
}

/** Errors of Node that name files. */
const namingFiles =
  /^(?:MODULE_NOT_FOUND$|ERR_(?:MODULE|PACKAGE|UNSUPPORTED|REQUIRE|DLOPEN|LOAD|UNKNOWN_FILE|INVALID_MODULE|FS|SQLITE)(?:_|$))/;

function isOfPlatform(code: unknown, syscall: unknown): boolean {
  return typeof code === 'string' && (syscall !== undefined || namingFiles.test(code));
}

function plainError(thrown: unknown, depth: number): Error {
  const text = propertyOf(thrown, 'message');
  const whole = typeof text === 'string' ? text : '';
  if (!isA(thrown, Error)) {
    const said = typeof thrown === 'string' ? thrown : whole;
    return written('Error', bounded(`a function threw what is no Error: ${said || typeof thrown}`, MAX_LOGGED_LENGTHS.message));
  }
  const name = propertyOf(thrown, 'name');
  const stack = propertyOf(thrown, 'stack');
  const message = bounded(whole, MAX_LOGGED_LENGTHS.message);
  const plain = written(
    typeof name === 'string' ? bounded(name, 100) : 'Error',
    message,
    // A long message would leave no room for the places.
    typeof stack === 'string'
      ? bounded(
          stack.replace(whole, () => message),
          MAX_LOGGED_LENGTHS.stack,
        )
      : undefined,
  );
  const code = propertyOf(thrown, 'code');
  if (typeof code === 'number') Object.assign(plain, { code });
  if (typeof code === 'string') Object.assign(plain, { code: bounded(code, 100) });
  const cause = propertyOf(thrown, 'cause');
  if (depth < MAX_CAUSES && isA(cause, Error)) plain.cause = plainError(cause, depth + 1);
  return plain;
}

/** @param stack where it was thrown; the place here would tell nothing */
function written(name: string, message: string, stack = `${name}: ${message}`): Error {
  return Object.assign(new Error(message), { name, stack });
}

/** Properties are code of the function's. */
function propertyOf(thrown: unknown, name: string): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, name);
  } catch {
    return undefined;
  }
}

/** Whether something is of a class; a proxy is asked, and may throw. */
function isA(thrown: unknown, Class: new (...given: never[]) => Error): boolean {
  try {
    return thrown instanceof Class;
  } catch {
    return false;
  }
}
