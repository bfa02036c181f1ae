import { ServiceError, serviceError } from '../../errors/fail.ts';

/** What callers hear where the reason is not theirs to know. */
const UNTOLD = 'The function failed.';

/** A fault of the service that a function met. It was logged where it happened. */
export class ServiceFault extends Error {
  constructor() {
    super('server error');
    this.name = 'ServiceFault';
  }
}

/**
 * What the caller sees of what a function threw: its message, but for faults of the service and errors of the operating system and of
 * Node, which may name paths and statements (docs/decisions.md "Functions and forms").
 * @returns functionFailed
 */
export function shownFailure(thrown: unknown): ServiceError {
  return serviceError('functionFailed', messageOf(thrown) || UNTOLD);
}

/** What was thrown as an Error that can be logged: JavaScript throws anything. */
export function loggedFailure(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`a function threw what is no Error: ${messageOf(thrown) || typeof thrown}`);
}

/** Empty where there is none to be shown. */
function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof ServiceFault) return '';
  try {
    const { message, code, syscall } = thrown as { message?: unknown; code?: unknown; syscall?: unknown };
    if (typeof message !== 'string') return '';
    return thrown instanceof ServiceError || !isOfPlatform(code, syscall) ? message : '';
  } catch {
    // Its properties are code of the function's.
    return '';
  }
}

/** Errors of Node that name files. */
const namingFiles =
  /^(?:MODULE_NOT_FOUND$|ERR_(?:MODULE|PACKAGE|UNSUPPORTED|REQUIRE|DLOPEN|LOAD|UNKNOWN_FILE|INVALID_MODULE|FS|SQLITE)(?:_|$))/;

function isOfPlatform(code: unknown, syscall: unknown): boolean {
  return typeof code === 'string' && (syscall !== undefined || namingFiles.test(code));
}
