import { CommanderError } from 'commander';

/** Of a command that is done, with refusals (CONTRACT "Operations"). */
const EXIT_WITH_REFUSALS = 2;

/** Ends a command whose work is done, but for what was refused, of which it has told. @param what was refused, for nobody but us */
export function withRefusals(what: string): CommanderError {
  return new CommanderError(EXIT_WITH_REFUSALS, 'refused', what);
}
