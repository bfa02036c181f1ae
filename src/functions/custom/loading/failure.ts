import { isInDoubt, isUnavailable, ServiceError, serviceError } from '../../../errors/fail.ts';

/** Message for callers if the actual reason must not be revealed. */
const HIDDEN_REASON = 'The function failed.';
/** Maximum length of a message for callers, in characters. */
export const MAX_MESSAGE_LENGTH = 1_000;
/** Maximum length of a message and of a stack in the log, in characters. */
const MAX_LOGGED_LENGTHS = { message: 2_000, stack: 8_000 };
/** Length of the chain of causes in the log. */
const MAX_CAUSES = 4;

/** An internal error of the service during a call of a function. It has been logged where it occurred. */
export class ServiceFault extends Error {
  constructor() {
    super('server error');
    this.name = 'ServiceFault';
  }
}

/** What a function threw, converted to plain objects of the service. */
export interface Failure {
  /**
   * The functionFailed error for the caller. It has the message of what was thrown, except for internal errors of the service and errors of the
   * operating system and Node, which may contain paths and statements.
   * Reference: functions.md#custom-functions.
   */
  readonly forCaller: ServiceError;
  readonly logged: Error;
}

/** Returns the transient storage error that a function let through; `null` for anything else. Never throws. */
export function passingFaultIn(thrown: unknown): 'unavailable' | 'outcomeUnknown' | null {
  if (!isA(thrown, ServiceError)) return null;
  return isUnavailable(thrown) ? 'unavailable' : isInDoubt(thrown) ? 'outcomeUnknown' : null;
}

/**
 * Converts what a function threw. JavaScript can throw anything: proxies, frozen errors, getters that throw, megabytes of text; nothing of it is used
 * further. Never throws.
 */
export function failureOf(thrown: unknown): Failure {
  return {
    forCaller: serviceError('functionFailed', truncate(messageForCaller(thrown), MAX_MESSAGE_LENGTH) || HIDDEN_REASON),
    logged: plainError(thrown, 0),
  };
}

/** Truncates a text, marked with `…`. The result is well-formed. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  // Removes half of a surrogate pair at the cut.
  return `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…`.toWellFormed();
}

/** Returns the message for the caller; empty if it must not be shown. */
function messageForCaller(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (isA(thrown, ServiceFault)) return '';
  if (!isA(thrown, ServiceError) && isPlatformError(propertyOf(thrown, 'code'), propertyOf(thrown, 'syscall'))) return '';
  const message = propertyOf(thrown, 'message');
  return typeof message === 'string' ? message : '';
}

/** Node errors whose message contains file names. */
const fileErrorCodes =
  /^(?:MODULE_NOT_FOUND$|ERR_(?:MODULE|PACKAGE|UNSUPPORTED|REQUIRE|DLOPEN|LOAD|UNKNOWN_FILE|INVALID_MODULE|FS|SQLITE)(?:_|$))/;

function isPlatformError(code: unknown, syscall: unknown): boolean {
  return typeof code === 'string' && (syscall !== undefined || fileErrorCodes.test(code));
}

function plainError(thrown: unknown, depth: number): Error {
  const text = propertyOf(thrown, 'message');
  const whole = typeof text === 'string' ? text : '';
  if (!isA(thrown, Error)) {
    const thrownText = typeof thrown === 'string' ? thrown : whole;
    return errorWith(
      'Error',
      truncate(`a function threw what is no Error: ${thrownText || typeof thrown}`, MAX_LOGGED_LENGTHS.message),
    );
  }
  const name = propertyOf(thrown, 'name');
  const stack = propertyOf(thrown, 'stack');
  const message = truncate(whole, MAX_LOGGED_LENGTHS.message);
  const plain = errorWith(
    typeof name === 'string' ? truncate(name, 100) : 'Error',
    message,
    // The stack repeats the message; shorten it so that there is room for the frames.
    typeof stack === 'string'
      ? truncate(
          stack.replace(whole, () => message),
          MAX_LOGGED_LENGTHS.stack,
        )
      : undefined,
  );
  const code = propertyOf(thrown, 'code');
  if (typeof code === 'number') Object.assign(plain, { code });
  if (typeof code === 'string') Object.assign(plain, { code: truncate(code, 100) });
  const cause = propertyOf(thrown, 'cause');
  if (depth < MAX_CAUSES && isA(cause, Error)) plain.cause = plainError(cause, depth + 1);
  return plain;
}

/** @param stack the original stack, since the one of this place is useless */
function errorWith(name: string, message: string, stack = `${name}: ${message}`): Error {
  return Object.assign(new Error(message), { name, stack });
}

/** Reads a property safely: getters run code of the function. */
function propertyOf(thrown: unknown, name: string): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return undefined;
  try {
    return Reflect.get(thrown, name);
  } catch {
    return undefined;
  }
}

/** Tests `instanceof` safely: a proxy may throw. */
function isA(thrown: unknown, Class: new (...given: never[]) => Error): boolean {
  try {
    return thrown instanceof Class;
  } catch {
    return false;
  }
}
