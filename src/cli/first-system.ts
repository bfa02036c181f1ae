import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secrets } from '../config/index.ts';
import type { Administration, SystemCredentials } from '../systems/index.ts';
import type { Print } from './program.ts';

/**
 * Makes the first system where there is none (CONTRACT "Running"). Credentials that were not given are made, kept in a file that only
 * the service's user may read, and printed once.
 */
export async function addFirstSystem(
  administration: Administration,
  given: Secrets,
  dataDir: string,
  print: Print,
): Promise<void> {
  if (administration.systems().length > 0) return;
  const { appId, masterKey, apiKey } = given;
  const isComplete = appId !== undefined && masterKey !== undefined && apiKey !== undefined;
  // What was given stays where it was given.
  const made = (all: SystemCredentials) => ({
    appId: all.appId,
    ...(masterKey === undefined ? { masterKey: all.masterKey } : {}),
    ...(apiKey === undefined ? { apiKey: all.apiKey } : {}),
  });
  const file = join(dataDir, 'credentials.json');
  const credentials = await administration.addSystem({ appId, masterKey, apiKey }, async (all) => {
    if (!isComplete) await writeFile(file, `${JSON.stringify(made(all), null, 2)}\n`, { mode: 0o600 });
  });
  if (isComplete) return;
  const { masterKey: newMasterKey, apiKey: newApiKey } = made(credentials);
  print(`The first system was made. Its credentials are shown once and kept in ${file}`);
  print(`Application id: ${credentials.appId}`);
  if (newMasterKey !== undefined) print(`Master key: ${newMasterKey}`);
  if (newApiKey !== undefined) print(`API key: ${newApiKey}`);
}
