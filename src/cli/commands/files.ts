import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Orphan, StorageUsage } from '../../files/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { DAY_MS, isoText } from '../../kernel/time.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { forOperator, withRefusals } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface Of {
  system?: string;
}
interface SweepOptions extends Of, ProgressOptions {
  days: number;
  dryRun?: true;
}
interface UsageOptions extends Of {
  json?: true;
}
interface QuotaOptions {
  system: string;
  bytes?: number;
  none?: true;
}

const UNIT = 'files and records looked at';

/** Reasons shown for a file that is not in use. */
const reasons: Readonly<Record<Orphan['why'], string>> = {
  unattached: 'no record mentions it',
  neverCame: 'the upload never came',
  noRow: 'bytes without an upload',
};

/** `files sweep|usage|quota`. */
export function addFilesCommands(program: Command, { withFiles }: Actions, print: Print): void {
  const files = program.command('files').description('manage the stored files of a system');
  addProgressOptions(files.command('sweep'))
    .description('delete unreferenced files; prints system, name, bytes, time of upload, reason')
    .option('--system <app-id>', 'application id of the system (default: all)')
    .option('--days <n>', 'minimum age of a file to be deleted, in days', upTo(36_500), 1)
    .option('--dry-run', 'print what would be deleted, and delete nothing')
    .action(async ({ system, days, dryRun, ...output }: SweepOptions) => {
      const options = { olderThan: Date.now() - days * DAY_MS, remove: !dryRun };
      const reporter = new ProgressReporter(output);
      const total = { files: 0, bytes: 0, removed: !dryRun };
      let spared = 0;
      const refused = await withFiles(system, async (files, of, isOnly) => {
        const swept = await files.sweep(
          of,
          options,
          (orphan) => {
            reporter.clear();
            print(output.json ? JSON.stringify(asObject(of.appId, orphan)) : asLine(of.appId, orphan));
          },
          output.quiet
            ? undefined
            : (done, all) => reporter.progress({ what: of.appId, done, unit: UNIT, share: isOnly ? done / all : undefined }),
        );
        total.files += swept.files;
        total.bytes += swept.bytes;
        spared += swept.spared;
        if (swept.spared > 0) {
          const since = isoText(of.mayLackRowsUntil ?? 0);
          const text = `${of.appId}: ${counted(swept.spared, 'file')} of before ${since} stay: what says whose they are may be missing`;
          reporter.note(text, { system: of.appId, spared: swept.spared, before: since });
        }
      }).finally(() => reporter.clear());
      if (output.json) print(JSON.stringify(total));
      else print(`${dryRun ? 'would remove' : 'removed'} ${counted(total.files, 'file')}, ${total.bytes} bytes`);
      reportRefused(refused, reporter);
      if (spared > 0) throw withRefusals('files were spared');
    });
  files
    .command('usage')
    .description('print the number and size of the files of a system')
    .option('--system <app-id>', 'application id of the system (default: all)')
    .option('--json', 'print one JSON object a line')
    .action(async ({ system, json }: UsageOptions) => {
      const refused = await withFiles(system, async (files, of, isOnly) => {
        const usage = await files.usage(of);
        if (json) return print(JSON.stringify({ system: of.appId, ...usage }));
        if (!isOnly) print(`${of.appId}:`);
        printUsage(usage, print);
      });
      reportRefused(refused, new ProgressReporter({ ...(json && { json }) }));
    });
  files
    .command('quota')
    .description('set or remove the storage quota of a system; at the quota, uploads are refused')
    .requiredOption('--system <app-id>', 'application id of the system')
    .addOption(new Option('--bytes <n>', 'quota, with or without a unit: 10GB, 500MiB').argParser(byteCount).conflicts('none'))
    .option('--none', 'remove the quota')
    .action(async ({ system, bytes, none }: QuotaOptions) => {
      if (bytes === undefined && !none) throw new OperatorError('--bytes or --none must be given');
      await withFiles(system, async (files, of) => {
        await files.setQuota(of, bytes ?? null);
        printUsage(await files.usage(of), print);
      });
    });
}

/** Reports the systems that were skipped. @throws CommanderError with exit code 2 if there are any */
function reportRefused(refused: ReadonlyMap<string, unknown>, reporter: ProgressReporter): void {
  for (const [system, error] of refused) {
    const { message } = forOperator(error) as Error;
    reporter.note(`${system} was passed over: ${message}`, { system, refused: message });
  }
  if (refused.size > 0) throw withRefusals('systems were passed over');
}

function asLine(appId: string, { name, size, uploadedAt, why }: Orphan): string {
  return [appId, name, size, isoText(uploadedAt), reasons[why]].join('\t');
}

function asObject(system: string, { name, size, uploadedAt, why }: Orphan): object {
  return { system, name, bytes: size, uploadedAt: isoText(uploadedAt), why: reasons[why] };
}

function printUsage({ files, bytes, quota, outOfStorage }: StorageUsage, print: Print): void {
  print(`files: ${files}`);
  print(`bytes: ${bytes}`);
  print(`quota: ${quota ?? 'none'}`);
  print(`outOfStorage: ${outOfStorage}`);
}

/** Parses an integer option. @throws InvalidArgumentError */
export function upTo(most: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,16}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number up to ${most}.`);
  };
}

/** Prefixes of units; the index is the exponent of 1000 or 1024. */
const powers = ['', 'k', 'm', 'g', 't'];

/** Parses a number of bytes, with or without a unit (`10MB`, `1.5GiB`). @throws InvalidArgumentError */
export function byteCount(text: string): number {
  const [, digits = '', prefix = '', binary] = /^(\d{1,16}(?:\.\d{1,6})?) ?(?:([kmgt]?)(i?)b)?$/i.exec(text) ?? [];
  const isUnit = prefix !== '' || !binary;
  const bytes = Number(digits) * (binary ? 1024 : 1000) ** powers.indexOf(prefix.toLowerCase());
  if (digits !== '' && isUnit && Number.isSafeInteger(bytes)) return bytes;
  throw new InvalidArgumentError('It must be a whole number of bytes, or one with a unit: 10MB, 1.5GiB.');
}
