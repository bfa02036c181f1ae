import { CommanderError } from 'commander';
import { ServiceError } from '../../errors/fail.ts';
import { shortKeyWarning } from '../../kernel/credentials.ts';
import { OperatorError } from '../../kernel/operator-error.ts';

/** Texts of errors show names that came from outside. */
export function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

/** What an operator is told of an error: the texts that clients see are for him too. */
export function forOperator(error: unknown): unknown {
  return error instanceof ServiceError ? new OperatorError(oneLine(error.message)) : error;
}

/** Tells on the terminal of a key that is soon found. */
export function warnOfShort(name: string, key: string | undefined): void {
  const warning = shortKeyWarning(name, key);
  if (warning !== null) console.error(`record-service: ${warning}`);
}

/** Of a command that is done, with refusals (CONTRACT "Operations"). */
const EXIT_WITH_REFUSALS = 2;

/** Ends a command whose work is done, but for what was refused, of which it has told. @param what was refused, for nobody but us */
export function withRefusals(what: string): CommanderError {
  return new CommanderError(EXIT_WITH_REFUSALS, 'refused', what);
}
