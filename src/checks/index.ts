import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, StoresState } from '../cli/index.ts';
import type { Config, Settings } from '../config/index.ts';
import { checkFunctions } from '../functions/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { greetMailServer } from '../mail/index.ts';
import { pendingOfRegistry, stateOfRegistry } from '../storage/sqlite/index.ts';
import { openDestination } from '../transfer/index.ts';
import { checkDisk, checkFiles, probeFolder } from './files.ts';
import { CHECK_TIMEOUT_MS, findingOf, reasonOf } from './finding.ts';

/**
 * Checks everything around the stores, changing nothing. Reference: operations.md#check.
 * @param load reads the settings @param report receives each result
 * @throws nothing: faults are findings
 */
export async function checkService(load: () => Settings, report: (finding: Finding) => void): Promise<StoresState> {
  let settings: Settings;
  try {
    settings = load();
  } catch (error) {
    report({ check: 'settings', outcome: 'failed', detail: reasonOf(error) });
    return 'unknown';
  }
  const { config, secrets } = settings;
  report({ check: 'settings', outcome: 'ok', detail: `DATA_DIR ${config.dataDir}` });
  let state: StoresState = 'unknown';
  report(
    await findingOf('database', async () => {
      const found = secrets.databaseUrl === undefined ? lookAtEmbedded(config) : await lookAtPostgres(secrets.databaseUrl);
      state = found.state;
      return found.detail;
    }),
  );
  report(await findingOf('files', () => checkFiles(config)));
  report(await findingOf('mail', () => checkMail(secrets.smtpUrl)));
  report(await findingOf('disk', () => checkDisk(config.dataDir)));
  report(await findingOf('functions', (signal) => functionsFound(config, signal)));
  const { backup } = config;
  if (backup) report(await findingOf('backups', () => checkDestination(backup.url)));
  return state;
}

interface Look {
  readonly state: StoresState;
  readonly detail: string | Error;
}

function lookAtEmbedded(config: Config): Look {
  const inDirectory = (name: string) => join(config.dataDir, name);
  const path = inDirectory('registry.sqlite');
  const version = `SQLite ${process.versions.sqlite}`;
  if (!existsSync(path)) {
    const isLost = existsSync(inDirectory('systems')) || existsSync(inDirectory('registry.sqlite-wal'));
    return { state: isLost ? 'lost' : 'none', detail: isLost ? version : `${version}, no systems yet` };
  }
  // Opening it tells what is wrong.
  if (stateOfRegistry(path) !== 'there') return { state: 'lost', detail: version };
  const pending = pendingOfRegistry(path);
  return { state: pending === 0 ? 'ready' : 'pending', detail: pending === 0 ? version : `${version}, ${atNextStart(pending)}` };
}

async function lookAtPostgres(url: string): Promise<Look> {
  const { lookAtDatabase } = await import('../storage/postgres/index.ts');
  const { version, encoding, mayCreateSchemas, pending, hasSystems } = await lookAtDatabase(url, CHECK_TIMEOUT_MS);
  const state = pending === null ? (hasSystems ? 'lost' : 'none') : pending === 0 ? 'ready' : 'pending';
  const facts = `PostgreSQL ${version}, ${encoding}`;
  if (!mayCreateSchemas) return { state, detail: new OperatorError(`${facts}, the user may not create schemas`) };
  const migrations = pending === null ? ', no systems yet' : pending > 0 ? `, ${atNextStart(pending)}` : '';
  return { state, detail: `${facts}, may create schemas${migrations}` };
}

const atNextStart = (pending: number) => `pending migrations of the registry: ${pending}`;

async function checkMail(url: string | undefined): Promise<string> {
  if (url === undefined) return 'no SMTP_URL: messages are kept';
  await greetMailServer(url, CHECK_TIMEOUT_MS);
  return `${new URL(url).host} greets`;
}

async function functionsFound({ functionsDir, functionTimeout }: Config, signal: AbortSignal): Promise<string | Error> {
  const { loaded, broken } = await checkFunctions(functionsDir, functionTimeout, signal);
  return broken.length === 0
    ? `${loaded} loaded`
    : new OperatorError(`${loaded} loaded, ${broken.length} broken: ${broken.join('; ')}`);
}

async function checkDestination(url: string): Promise<string> {
  if (!url.startsWith('s3:')) return probeFolder(url);
  const destination = await openDestination(url, 'BACKUP_URL');
  destination.close();
  return 'the bucket can be reached';
}
