import type { Finding, StoresState } from '../cli/index.ts';
import type { Config, Secrets, Settings } from '../config/index.ts';
import { checkFunctions } from '../functions/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { greetMailServer } from '../mail/index.ts';
import { openDestination } from '../transfer/index.ts';
import { checkDisk, checkFiles, probeFolder } from './files.ts';
import { CHECK_TIMEOUT_MS, findingOf, reasonOf } from './finding.ts';

type LookAtStores = (
  settings: Settings,
  timeLimit: number,
) => Promise<{ readonly state: StoresState; readonly detail: string; readonly isUsable: boolean }>;

/**
 * Checks everything around the stores, changing nothing. Reference: operations.md#check.
 * @param load reads the settings @param look looks at the stores without opening them @param report receives each result
 * @throws nothing: faults are findings
 */
export async function checkService(
  load: () => Settings,
  look: LookAtStores,
  report: (finding: Finding) => void,
): Promise<StoresState> {
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
      const found = await look(settings, CHECK_TIMEOUT_MS);
      state = found.state;
      if (!found.isUsable) throw new OperatorError(found.detail);
      return found.detail;
    }),
  );
  report(await findingOf('files', () => checkFiles(config)));
  report(await findingOf('mail', () => checkMail(secrets.smtpUrl)));
  report(await findingOf('disk', () => checkDisk(config.dataDir)));
  report(await findingOf('functions', (signal) => functionsFound(config, secrets, signal)));
  const { backup } = config;
  if (backup) report(await findingOf('backups', () => checkDestination(backup.url)));
  return state;
}

async function checkMail(url: string | undefined): Promise<string> {
  if (url === undefined) return 'no SMTP_URL: messages are kept';
  await greetMailServer(url, CHECK_TIMEOUT_MS);
  return `${new URL(url).host} greets`;
}

async function functionsFound(
  { functionsDir: directory, functionTimeout: timeLimit, functionMemoryMb: memoryMb }: Config,
  { functionEnv: env }: Secrets,
  signal: AbortSignal,
): Promise<string | Error> {
  const { loaded, broken } = await checkFunctions({ directory, timeLimit, memoryMb, env }, signal);
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
