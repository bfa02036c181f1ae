import { type Command, Option } from 'commander';
import { ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { MoveEvents } from '../../transfer/index.ts';
import { forOperator } from '../one-line.ts';
import type { Actions, Print } from '../program.ts';

/** Milliseconds between two signs of progress where nobody watches; a person sees every piece. */
const PROGRESS_EVERY = 10_000;

/** `move`. */
export function addMoveCommand(program: Command, { move }: Actions, print: Print): void {
  program
    .command('move')
    .description('copy every system and its keys to the other kind of store; goes on where an earlier move was cut off')
    .addOption(
      new Option('--to <store>', 'postgres: from DATA_DIR to DATABASE_URL; embedded: back')
        .choices(['postgres', 'embedded'])
        .makeOptionMandatory(),
    )
    .action(async ({ to }: { to: 'postgres' | 'embedded' }) => {
      const progress = new Progress(print);
      const { systems, records } = await move(to, progress).catch((error) => {
        progress.clear();
        throw isUnavailable(error) ? new OperatorError(lost) : forOperator(error);
      });
      progress.clear();
      print(`moved ${counted(systems, 'system')} and ${counted(records, 'record')}; counts and checksums are the same`);
    });
}

const lost = 'PostgreSQL cannot be reached any more; what was copied stays there, and the same command goes on from it';

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.key === 'unavailable';

const counted = (count: number, what: string) => `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;

/** Tells how a move goes: a line for each system, and on stderr where it is. */
class Progress implements MoveEvents {
  readonly #print: Print;
  #shownAt = performance.now();
  #onScreen = false;

  constructor(print: Print) {
    this.#print = print;
  }

  copied(system: string, className: string, records: number): void {
    this.#show(`${system}: ${className}: ${counted(records, 'record')}`);
  }

  comparing(system: string, className: string): void {
    this.#show(`${system}: ${className}: comparing`);
  }

  #show(line: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${line}`);
      this.#onScreen = true;
    } else if (performance.now() - this.#shownAt > PROGRESS_EVERY) {
      this.#shownAt = performance.now();
      console.error(line);
    }
  }

  moved(system: string, records: number): void {
    this.clear();
    this.#print(`${system}: ${counted(records, 'record')} copied and compared`);
  }

  skipped(system: string): void {
    this.clear();
    this.#print(`${system}: there already, and compared`);
  }

  restarted(system: string): void {
    this.clear();
    this.#print(`${system}: the source was written to since the earlier move; copying from the beginning`);
  }

  /** Takes the count off the terminal. */
  clear(): void {
    if (this.#onScreen) process.stderr.write('\r\x1b[K');
    this.#onScreen = false;
  }
}
