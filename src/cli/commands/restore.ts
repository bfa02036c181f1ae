import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { openBackupFile, type RestoredBackup } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { oneLine } from '../terminal/format-error.ts';
import { identitiesFrom } from '../terminal/identities.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface RestoreOptions extends ProgressOptions {
  as?: string;
  replace?: true;
  withoutFiles?: true;
  active?: true;
  identity?: string;
}

/** `restore`. Reference: backup.md#restore. */
export function addRestoreCommand(program: Command, { withBackups, ask }: Actions, print: Print): void {
  addProgressOptions(program.command('restore <file>'))
    .description(
      'restore a system from a backup: a file, s3://…, or - for standard input; it is served once everything is compared',
    )
    .option('--as <app-id>', 'restore as a new system with this application id; prints its keys once')
    .option('--replace', 'restore as the same system, with its keys; the present one is removed and kept for 14 days')
    .option('--without-files', 'leave uploaded files out')
    .option('--active', 'start schedules, triggers and mail at once instead of at system resume')
    .option('--identity <file>', 'file with the age secret key, if the backup is encrypted')
    .action(async (file: string, options: RestoreOptions) => {
      const { as, replace } = options;
      if ((as === undefined) === (replace === undefined)) throw new OperatorError('either --as NEWID or --replace must be given');
      const identities = await identitiesFrom(options.identity);
      const reporter = new ProgressReporter(options);
      try {
        const restored = await withBackups(async (backups) => {
          const source = await openBackupFile(file);
          return backups.restore(
            source,
            {
              identities,
              appId: as ?? null,
              withFiles: !options.withoutFiles,
              isActive: options.active === true,
              confirm: (appId) => confirmReplace(appId, reporter, ask),
            },
            {
              adding: (what, done, of) => reporter.progress({ what, done, unit: 'records added', share: shareOf(done, of) / 2 }),
              comparing: (what, done, of) =>
                reporter.progress({ what, done, unit: 'records compared', share: (1 + shareOf(done, of)) / 2 }),
              files: (done) => reporter.progress({ what: 'files', done, unit: 'files' }),
            },
          );
        }, 'first');
        reporter.clear();
        if (options.json) print(JSON.stringify({ ...restored, credentials: undefined, ...restored.credentials }));
        else for (const line of linesOf(restored, options)) print(line);
      } catch (error) {
        throw error instanceof OperatorError ? new OperatorError(`${oneLine(file)}: ${error.message}`, { cause: error }) : error;
      } finally {
        reporter.clear();
      }
    });
}

const shareOf = (done: number, of: number) => (of === 0 ? 1 : done / of);

/** Asks for confirmation on a terminal before a present system is set aside. @throws OperatorError if it is declined */
async function confirmReplace(appId: string, reporter: ProgressReporter, ask: Actions['ask']): Promise<void> {
  reporter.clear();
  const typed = await ask(`${appId} is in force: it is put aside for 14 days. Type its application id again: `);
  if (typed !== null && typed.trim() !== appId) throw new OperatorError('that is another id; nothing was done');
}

function linesOf({ appId, records, files, credentials, held }: RestoredBackup, { active }: RestoreOptions): string[] {
  const lines = [`${appId}: ${counted(records, 'record')} and ${counted(files, 'file')} restored and compared`];
  if (credentials)
    lines.push(`Application id: ${credentials.appId}`, `Master key: ${credentials.masterKey}`, `API key: ${credentials.apiKey}`);
  if (!active)
    lines.push(
      `Held: ${counted(held.schedules, 'schedule')}, ${counted(held.jobs, 'queued job')}. Start them with: record-service system resume ${appId}`,
    );
  return lines;
}
