import type { Command } from 'commander';
import type { Retention } from '../../config/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { SystemEntry } from '../../storage/registry.ts';
import {
  type BackupSummary,
  type Backups,
  type Destination,
  encrypterFor,
  type KeptBackup,
  keptOf,
  type MadeBackup,
  openBackupFile,
  openDestination,
  retentionFrom,
  StreamDestination,
  summariseBackup,
  timeOfBackup,
  verifyBackup,
} from '../../transfer/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { counted } from '../terminal/counted.ts';
import { forOperator, oneLine, withRefusals } from '../terminal/format-error.ts';
import { identitiesFrom } from '../terminal/identities.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';

interface BackupOptions extends ProgressOptions {
  to?: string;
  system?: string[];
  /** `--no-files` */
  files: boolean;
  recipient?: string[];
  keep?: string;
}

interface ListOptions {
  from: string;
  system?: string;
  identity?: string;
  json?: true;
}

interface VerifyOptions extends ProgressOptions {
  identity?: string;
}

/** Collects an option that may be repeated. */
const collect = (value: string, before: string[] = []) => [...before, value];
const destinations = 'folder or s3://bucket/prefix?endpoint=…&region=…';

/** `backup`, `backup list`, `backup verify`. Reference: backup.md#backup. */
export function addBackupCommands(program: Command, { withBackups }: Actions, print: Print): void {
  const backup = addProgressOptions(program.command('backup'))
    // Options of `backup` must precede `list` and `verify`, whose options have the same names.
    .enablePositionalOptions()
    .description('back up systems while they are served, one file each; prints application id, records, files, bytes, file')
    .option('--to <place>', `${destinations}, or - for standard output (one system)`)
    .option('--system <app-id>', 'application id of a system; repeatable (default: all)', collect)
    .option('--no-files', 'leave uploaded files out')
    .option('--recipient <age1…>', 'encrypt for this age public key; repeatable', collect)
    .option('--keep <rule>', 'afterwards delete backups except the newest of each of the last hours, days, months: 48h,30d,12m')
    .action((options: BackupOptions) => run(withBackups, options, print));
  backup
    .command('list')
    .description('list backups: application id, time, version, records, files, bytes, file; - for what is encrypted')
    .requiredOption('--from <place>', destinations)
    .option('--system <app-id>', 'application id of one system')
    .option('--identity <file>', 'file with the age secret key, to read encrypted backups')
    .option('--json', 'print one JSON object a line')
    .action((options: ListOptions) => list(options, print));
  addProgressOptions(backup.command('verify <file>'))
    .description('read a whole backup and compare it with its checksums')
    .option('--identity <file>', 'file with the age secret key, if the backup is encrypted')
    .action((file: string, options: VerifyOptions) => verify(file, options, print));
}

async function run(withBackups: Actions['withBackups'], options: BackupOptions, print: Print): Promise<void> {
  const { to, system, recipient = [], keep } = options;
  if (to === undefined) throw new OperatorError(`--to must be given: ${destinations}, or -`);
  const encrypter = await encrypterFor(recipient);
  const retention = keep === undefined ? null : retentionFrom(keep, '--keep');
  const isStream = to === '-';
  if (isStream && system?.length !== 1)
    throw new OperatorError('--to - takes one --system: the standard output holds one backup');
  if (isStream && retention) throw new OperatorError('--keep needs a place where backups are kept');
  // Standard output carries the backup itself.
  const printLine = isStream ? (line: string) => void process.stderr.write(`${line}\n`) : print;
  await withBackups(async (backups) => {
    const entries = chosen(backups, system);
    const destination = isStream ? new StreamDestination(process.stdout) : await openDestination(to, '--to');
    const reporter = new ProgressReporter(options);
    let failed = 0;
    let incomplete = 0;
    try {
      for (const entry of entries)
        try {
          const made = await backups.make(entry, destination, { withFiles: options.files, encrypter }, eventsOf(entry, reporter));
          reporter.clear();
          printLine(options.json ? JSON.stringify(rowOf(made)) : lineOf(made));
          if (reportMissing(made, reporter)) incomplete++;
          if (retention) await prune(destination, entry.appId, retention, reporter);
        } catch (error) {
          reporter.clear();
          if (entries.length === 1) throw forOperator(error);
          // The other systems are backed up nevertheless.
          failed++;
          const text = `${entry.appId}: ${reasonOf(error)}`;
          reporter.note(`record-service: ${text}`, { appId: entry.appId, error: reasonOf(error) });
        }
    } finally {
      reporter.clear();
      destination.close();
    }
    if (failed > 0) throw new OperatorError(`${failed} of ${entries.length} systems were not backed up`);
    if (incomplete > 0) throw withRefusals('files were missing');
  });
}

function chosen(backups: Backups, appIds: readonly string[] | undefined): readonly SystemEntry[] {
  const systems = backups.systems();
  if (!appIds) {
    if (systems.length === 0) throw new OperatorError('there is no system to back up');
    return systems;
  }
  return [...new Set(appIds)].map((appId) => {
    const entry = systems.find((one) => one.appId === appId);
    if (!entry) throw new OperatorError(`there is no system ${JSON.stringify(oneLine(appId).slice(0, 100))}`);
    return entry;
  });
}

const eventsOf = ({ appId }: SystemEntry, reporter: ProgressReporter) => ({
  reading: (what: string, done: number, share: number) =>
    reporter.progress({ what: `${appId}: ${what}`, done, unit: 'records', share }),
  readingFiles: (done: number) => reporter.progress({ what: `${appId}: files`, done, unit: 'files' }),
});

const rowOf = ({ appId, records, files, bytes, file, missingFiles, deletedFiles }: MadeBackup) => ({
  appId,
  records,
  files,
  bytes,
  file,
  missingFiles,
  deletedFiles,
});

const lineOf = ({ appId, records, files, bytes, file }: MadeBackup) =>
  [appId, counted(records, 'record'), counted(files, 'file'), counted(bytes, 'byte'), file].join('\t');

/** @returns whether bytes of files are missing unexpectedly */
function reportMissing({ appId, missingFiles, deletedFiles }: MadeBackup, reporter: ProgressReporter): boolean {
  if (deletedFiles > 0)
    reporter.note(`${appId}: ${counted(deletedFiles, 'file')} were deleted meanwhile and are not in it`, { appId, deletedFiles });
  if (missingFiles > 0)
    reporter.note(`${appId}: the bytes of ${counted(missingFiles, 'file')} are missing, before this backup`, {
      appId,
      missingFiles,
    });
  return missingFiles > 0;
}

/** Deletes the backups of a system that the retention rule does not keep. */
async function prune(destination: Destination, appId: string, retention: Retention, reporter: ProgressReporter): Promise<void> {
  const all: { kept: KeptBackup; at: number }[] = [];
  for await (const kept of destination.list(appId)) all.push({ kept, at: timeOfBackup(kept.name) ?? 0 });
  const stay = keptOf(
    all.map(({ at }) => at),
    retention,
    Date.now(),
  );
  for (const { kept, at } of all) {
    if (stay.has(at)) continue;
    await destination.remove(kept);
    reporter.note(`${appId}: deleted ${kept.file}, which --keep does not keep`, { appId, deleted: kept.file });
  }
}

async function list({ from, system, identity, json }: ListOptions, print: Print): Promise<void> {
  const identities = await identitiesFrom(identity);
  const destination = await openDestination(from, '--from');
  let unread = 0;
  try {
    for await (const kept of destination.list(system)) {
      const summary = await summaryOf(destination, kept, identities);
      if (typeof summary === 'string') unread++;
      const row = listedRow(kept, summary);
      const line = { ...row, encrypted: row.encrypted ? 'encrypted' : 'plain' };
      print(json ? JSON.stringify(row) : Object.values(line).join('\t'));
    }
  } finally {
    destination.close();
  }
  if (unread > 0) throw withRefusals('some cannot be read');
}

/** Returns the summary of a backup; `null` if a key is required, an error text if it is not a backup. */
async function summaryOf(
  destination: Destination,
  kept: KeptBackup,
  identities: readonly string[],
): Promise<BackupSummary | null | string> {
  try {
    return await summariseBackup(await destination.open(kept), identities);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return /encrypted/.test(error.message) ? null : error.message;
  }
}

function listedRow({ appId, name, bytes, file }: KeptBackup, summary: BackupSummary | null | string) {
  const known = summary !== null && typeof summary !== 'string' ? summary : null;
  return {
    appId,
    madeAt: known?.madeAt ?? isoText(timeOfBackup(name) ?? 0),
    version: known?.version ?? '-',
    records: known?.records ?? '-',
    files: known?.files ?? '-',
    bytes,
    encrypted: summary === null || known?.isEncrypted === true,
    file,
    ...(typeof summary === 'string' && { unreadable: summary }),
  };
}

async function verify(file: string, options: VerifyOptions, print: Print): Promise<void> {
  const identities = await identitiesFrom(options.identity);
  const reporter = new ProgressReporter(options);
  try {
    const summary = await verifyBackup(await openBackupFile(file), identities, (what, done, of) =>
      reporter.progress({ what, done, unit: 'bytes', share: of === 0 ? 1 : done / of }),
    );
    reporter.clear();
    const { appId, madeAt, records, files } = summary;
    if (options.json) print(JSON.stringify({ appId, madeAt, records, files, outcome: 'agree' }));
    else print(`${counted(records, 'record')}, ${counted(files, 'file')}: all checksums agree`);
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`${oneLine(file)}: ${error.message}`, { cause: error }) : error;
  } finally {
    reporter.clear();
  }
}

const reasonOf = (error: unknown) => oneLine(error instanceof Error ? error.message : String(error));
