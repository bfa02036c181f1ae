import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { openBackupFile, type RestoredBackup } from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { oneLine } from '../terminal/format-error.ts';
import { identitiesFrom } from '../terminal/identities.ts';
import { addTellOptions, Teller, type TellOptions } from '../terminal/progress.ts';

interface RestoreOptions extends TellOptions {
  as?: string;
  replace?: true;
  withoutFiles?: true;
  active?: true;
  identity?: string;
}

/** `restore` (CONTRACT "Backup and restore"). */
export function addRestoreCommand(program: Command, { withBackups, ask }: Actions, print: Print): void {
  addTellOptions(program.command('restore <file>'))
    .description(
      'make a system of a backup: a file, an object s3://…, or - for the standard input. It comes into force once all of it was compared',
    )
    .option('--as <app-id>', 'as a new system beside the others; prints its keys, once')
    .option('--replace', 'as itself, with its keys; the present one is put aside for 14 days')
    .option('--without-files', 'without the uploaded files')
    .option('--active', 'its schedules, triggers and mail go on at once, not only after system resume')
    .option('--identity <file>', 'with the key of age, where it is encrypted')
    .action(async (file: string, options: RestoreOptions) => {
      const { as, replace } = options;
      if ((as === undefined) === (replace === undefined)) throw new OperatorError('either --as NEWID or --replace must be given');
      const identities = await identitiesFrom(options.identity);
      const teller = new Teller(options);
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
              confirm: (appId) => confirmReplace(appId, teller, ask),
            },
            {
              adding: (what, done, of) => teller.progress({ what, done, unit: 'records added', share: shareOf(done, of) / 2 }),
              comparing: (what, done, of) =>
                teller.progress({ what, done, unit: 'records compared', share: (1 + shareOf(done, of)) / 2 }),
              files: (done) => teller.progress({ what: 'files', done, unit: 'files' }),
            },
          );
        }, 'first');
        teller.clear();
        if (options.json) print(JSON.stringify({ ...restored, credentials: undefined, ...restored.credentials }));
        else for (const line of linesOf(restored, options)) print(line);
      } catch (error) {
        throw error instanceof OperatorError ? new OperatorError(`${oneLine(file)}: ${error.message}`, { cause: error }) : error;
      } finally {
        teller.clear();
      }
    });
}

const shareOf = (done: number, of: number) => (of === 0 ? 1 : done / of);

/** Asks, on a terminal, before a system that is served is put aside. @throws OperatorError where the answer is no */
async function confirmReplace(appId: string, teller: Teller, ask: Actions['ask']): Promise<void> {
  teller.clear();
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
