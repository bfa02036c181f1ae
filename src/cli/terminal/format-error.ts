import { CommanderError } from 'commander';
import { ServiceError } from '../../errors/fail.ts';
import { shortKeyWarning } from '../../kernel/credentials.ts';
import { OperatorError } from '../../kernel/operator-error.ts';

/** Replaces control characters, since error texts contain names from outside. */
export function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

/** Converts an error for the terminal: texts for clients are suitable for operators too. */
export function forOperator(error: unknown): unknown {
  return error instanceof ServiceError ? new OperatorError(oneLine(error.message)) : error;
}

/** Warns on the terminal of a key that is too short to resist guessing. */
export function warnOfShort(name: string, key: string | undefined): void {
  const warning = shortKeyWarning(name, key);
  if (warning !== null) console.error(`record-service: ${warning}`);
}

/** Exit code of a command that completed with refusals. Reference: commands.md#exit-codes. */
const EXIT_WITH_REFUSALS = 2;

/** Returns the error that ends a completed command with refusals, which it has reported. @param what internal text, not shown */
export function withRefusals(what: string): CommanderError {
  return new CommanderError(EXIT_WITH_REFUSALS, 'refused', what);
}
