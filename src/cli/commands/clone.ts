import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../kernel/time.ts';
import { type ClonedSystem, type CloneRequest, type Extent, parseRules } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { oneLine, withRefusals } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface CloneCommandOptions extends ProgressOptions {
  as: string;
  schemaOnly?: true;
  last?: string;
  anonymise?: string;
  files?: 'copy' | 'none';
  withLogins?: true;
}

/** `system clone`. Reference: clone.md#clone. */
export function addCloneCommand(system: Command, { withClones }: Actions, print: Print): void {
  addProgressOptions(system.command('clone <app-id>'))
    .description('make a copy of a system as another, held system, such as one for tests; prints its keys once')
    .requiredOption('--as <app-id>', 'application id of the clone')
    .option('--schema-only', 'take tables, permissions, roles, triggers, labels, reports, configuration and lookup tables only')
    .option(
      '--last <time>',
      'take of business tables only what was created or changed in the last time, such as 36h, 90d, 12w, 6m',
    )
    .option('--anonymise <file>', 'replace values by the rules in a JSON file, {"Table": {"Field": kind}}')
    .addOption(
      new Option(
        '--files <what>',
        'copy: with the uploaded files (default); none: without (default with --schema-only or --anonymise)',
      ).choices(['copy', 'none']),
    )
    .option('--with-logins', 'keep the passwords of users')
    .action(async (from: string, options: CloneCommandOptions) => {
      const reporter = new ProgressReporter(options);
      try {
        const request = await requestOf(from, options);
        const cloned = await withClones((clones) =>
          clones.clone(request, {
            copying: (what, done, share) => reporter.progress({ what, done, unit: 'records copied', share }),
            files: (done) => reporter.progress({ what: 'files', done, unit: 'files' }),
          }),
        );
        reporter.clear();
        if (options.json) print(JSON.stringify({ ...cloned, credentials: undefined, ...cloned.credentials }));
        else for (const line of linesOf(cloned)) print(line);
        const { withoutRule } = cloned;
        if (withoutRule.length > 0)
          reporter.note(`record-service: values taken as they are, without a rule: ${withoutRule.join(', ')}`, { withoutRule });
        if (cloned.missingFiles === 0) return;
        const missing = `${counted(cloned.missingFiles, 'file')} of ${from} had no bytes`;
        reporter.note(`record-service: ${missing}`, { missingFiles: cloned.missingFiles });
        throw withRefusals(missing);
      } finally {
        reporter.clear();
      }
    });
}

async function requestOf(
  from: string,
  { as, schemaOnly, last, anonymise, files, withLogins }: CloneCommandOptions,
): Promise<CloneRequest> {
  if (schemaOnly && last !== undefined) throw new OperatorError('--last and --schema-only exclude each other');
  const ofRecords: Extent = last === undefined ? { kind: 'all' } : { kind: 'since', since: Date.now() - durationOf(last) };
  const extent: Extent = schemaOnly ? { kind: 'schema' } : ofRecords;
  const rules = anonymise === undefined ? null : await rulesFrom(anonymise);
  const byDefault = schemaOnly || rules ? 'none' : 'copy';
  return { from, as, extent, withFiles: (files ?? byDefault) === 'copy', withLogins: withLogins === true, rules };
}

/** @throws OperatorError if the file cannot be read or is malformed */
async function rulesFrom(path: string): Promise<CloneRequest['rules']> {
  try {
    return parseRules(await readFile(path, 'utf8'));
  } catch (error) {
    throw new OperatorError(`--anonymise: ${oneLine((error as Error).message)}`, { cause: error });
  }
}

const units = new Map([
  ['h', HOUR_MS],
  ['d', DAY_MS],
  ['w', WEEK_MS],
  ['m', 30 * DAY_MS],
]);

/** Parses `90d`. @returns milliseconds @throws OperatorError */
function durationOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([hdwm])$/.exec(text) ?? [];
  const duration = Number(count) * (units.get(unit) ?? 0);
  if (duration > 0) return duration;
  throw new OperatorError('--last takes a number of hours, days, weeks or months of 30 days: 36h, 90d, 12w, 6m');
}

function linesOf({ from, records, files, clearedFiles, credentials, held }: ClonedSystem): string[] {
  const { appId, masterKey, apiKey } = credentials;
  const cleared = clearedFiles === 0 ? [] : [`${counted(clearedFiles, 'field')} with a file cleared`];
  return [
    [`${appId}: ${counted(records, 'record')} and ${counted(files, 'file')} of ${from}`, ...cleared].join('; '),
    `Application id: ${appId}`,
    `Master key: ${masterKey}`,
    `API key: ${apiKey}`,
    `Held: ${counted(held.schedules, 'schedule')}. Start them with: record-service system resume ${appId}`,
  ];
}
