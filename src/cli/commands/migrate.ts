import { type Command, InvalidArgumentError } from 'commander';
import { isPassing } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type MigrationEvents, migrateParse } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { forOperator, oneLine, withRefusals } from '../terminal/format-error.ts';
import { namesIn } from '../terminal/names.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface ParseOptions extends ProgressOptions {
  from: string;
  system: string;
  filesFrom?: string;
  only?: string[];
  dryRun?: true;
  continue?: true;
}

/** `migrate parse`. */
export function addMigrateCommands(program: Command, { withRecords }: Actions, print: Print): void {
  const migrate = program.command('migrate').description('migrate the data of another service into a system');
  addProgressOptions(migrate.command('parse'))
    .description('migrate a Parse Server: objects, users with passwords, roles, permissions, relations, indexes')
    .requiredOption('--from <place>', 'postgres://…, mongodb://…, or a directory of dumps')
    .requiredOption('--system <app-id>', 'application id of the target system')
    .option(
      '--files-from <place>',
      'migrate the bytes of files too, from a directory or an address that file names are appended to',
    )
    .option('--only <classes>', 'comma list of classes', classesIn)
    .option('--dry-run', 'report what would be done, and write nothing')
    .option('--continue', 'keep objects that exist already, and add the missing ones')
    .action(async (options: ParseOptions) => {
      const reporter = new ProgressReporter(options);
      const report = await withRecords(options.system, (context, otherProcesses, files) =>
        migrateParse(
          {
            from: options.from,
            filesFrom: options.filesFrom ?? null,
            only: options.only ?? null,
            isDry: options.dryRun === true,
            isContinued: options.continue === true,
          },
          { appId: options.system, store: context.store, otherProcesses, files },
          new Events(reporter),
        ),
      )
        .catch((error) => {
          throw isPassing(error)
            ? new OperatorError(`${oneLine(error.message)}; the same command with --continue goes on`)
            : forOperator(error);
        })
        .finally(() => reporter.clear());
      for (const detail of report.details) reporter.note(oneLine(detail), { detail });
      const { classes, parts, line } = report;
      if (options.json) print(JSON.stringify({ classes, report: parts, dryRun: options.dryRun === true }));
      else print(oneLine(line));
      if (report.hasLosses) throw withRefusals('not all could be taken over');
    });
}

function classesIn(text: string): string[] {
  const names = namesIn(text);
  if (names.length === 0) throw new InvalidArgumentError('Names of classes, with commas between.');
  return names;
}

/** Reports the progress of a migration: examination first, then writing. */
class Events implements MigrationEvents {
  readonly #reporter: ProgressReporter;
  #isWriting = false;

  constructor(reporter: ProgressReporter) {
    this.#reporter = reporter;
  }

  examining(className: string, done: number): void {
    this.#reporter.progress({ what: className, done, unit: 'objects looked at' });
  }

  writing(what: string, done: number, share: number): void {
    if (!this.#isWriting) this.#reporter.begin();
    this.#isWriting = true;
    this.#reporter.progress({ what, done, unit: 'objects', share });
  }
}
