import { type Command, Option } from 'commander';
import { isInDoubt, isUnavailable } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { MoveEvents } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { forOperator } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface MoveOptions extends ProgressOptions {
  to?: 'postgres' | 'embedded';
  undoMark?: true;
}

/** `move`. */
export function addMoveCommand(program: Command, { move, undoMoveMark }: Actions, print: Print): void {
  addProgressOptions(program.command('move'))
    .description(
      'copy all systems with their keys to the other engine, which serves them from then on; continues an interrupted move',
    )
    .addOption(
      new Option('--to <store>', 'postgres: from DATA_DIR to DATABASE_URL; embedded: the other way').choices([
        'postgres',
        'embedded',
      ]),
    )
    .addOption(new Option('--undo-mark', 'serve the systems again from the store that they were moved from').conflicts('to'))
    .action(async ({ to, undoMark, ...options }: MoveOptions) => {
      if (undoMark) {
        await undoMoveMark();
        print('the mark was removed: this store is served again');
        return;
      }
      if (to === undefined) throw new OperatorError('--to or --undo-mark must be given');
      const reporter = new ProgressReporter(options);
      const { systems, records } = await move(to, new Events(reporter, options, print))
        .catch((error) => {
          throw isUnavailable(error) || isInDoubt(error) ? new OperatorError(lost) : forOperator(error);
        })
        .finally(() => reporter.clear());
      if (options.json) print(JSON.stringify({ systems, records }));
      else print(`moved ${grouped(systems, 'system')} and ${grouped(records, 'record')}; counts and checksums are the same`);
    });
}

const lost = 'PostgreSQL cannot be reached any more; what was copied stays there, and the same command goes on from it';

const grouped = (count: number, what: string) => counted(count, what, count.toLocaleString('en-US'));

/** Reports the progress of a move: one line per system, and the current position. */
class Events implements MoveEvents {
  readonly #reporter: ProgressReporter;
  readonly #options: ProgressOptions;
  readonly #print: Print;

  constructor(reporter: ProgressReporter, options: ProgressOptions, print: Print) {
    this.#reporter = reporter;
    this.#options = options;
    this.#print = print;
  }

  copying(system: string, className: string, done: number, share: number): void {
    this.#reporter.progress({ what: `${system}: ${className}`, done, unit: 'records copied', share: share / 2 });
  }

  comparing(system: string, className: string, done: number, share: number): void {
    this.#reporter.progress({ what: `${system}: ${className}`, done, unit: 'records compared', share: (1 + share) / 2 });
  }

  moved(system: string, records: number): void {
    this.#say(`${system}: ${grouped(records, 'record')} copied and compared`, { system, records, outcome: 'moved' });
  }

  skipped(system: string): void {
    this.#say(`${system}: there already, and compared`, { system, outcome: 'skipped' });
  }

  restarted(system: string): void {
    const text = `${system}: the source was written to since the earlier move; copying from the beginning`;
    this.#say(text, { system, outcome: 'restarted' });
  }

  #say(text: string, object: object): void {
    this.#reporter.clear();
    this.#print(this.#options.json ? JSON.stringify(object) : text);
  }
}
