import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secrets } from '../../config/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { StoredPlace } from '../../storage/identity.ts';
import type { Administration, SystemCredentials } from '../../systems/index.ts';
import type { ContextOf, Print } from '../terminal/actions.ts';
import { type Administrator, addAdministrator, administratorFrom } from './administrator.ts';

/** E-mail address of the administrator if ADMIN_EMAIL is not set. */
const defaultEmail = 'admin@example.com';

type Made = Readonly<Partial<SystemCredentials & { adminEmail: string; adminPassword: string }>>;

/** Labels of the printed credentials. */
const labels: Readonly<Record<keyof Made, string>> = {
  appId: 'Application id',
  masterKey: 'Master key',
  apiKey: 'API key',
  adminEmail: 'Administrator',
  adminPassword: 'Password of the administrator',
};

/**
 * Creates the first system and its administrator if there is none. Reference: operations.md#start-and-stop. Credentials that were not given are
 * generated,
 * stored in a file readable by the service's user only, and printed once.
 * @param stranger called for each store that the registry does not know
 * @throws OperatorError if the password is too weak, or if all existing stores are unknown to the registry; nothing is created then
 */
export async function addFirstSystem(
  administration: Administration,
  contextOf: ContextOf,
  given: Secrets,
  dataDir: string,
  { print, stranger }: { print: Print; stranger: (place: StoredPlace) => void },
): Promise<void> {
  const strangers = await administration.unregisteredStores();
  for (const place of strangers) stranger(place);
  if (administration.systems().length > 0) return;
  if (strangers.length > 0)
    throw new OperatorError(
      `nothing was made, since the registry does not know ${strangers.map(({ place }) => place).join(', ')}`,
    );
  if (administration.removedSystems().length > 0) {
    print('All systems were removed: record-service system restore brings one back, system add makes another');
    return;
  }
  const { appId, masterKey, apiKey, adminEmail, adminPassword } = given;
  const administrator = administratorFrom(adminEmail ?? defaultEmail, adminPassword, 'ADMIN_PASSWORD');
  const isComplete = ![appId, masterKey, apiKey, adminEmail, adminPassword].includes(undefined);
  const file = join(dataDir, 'credentials.json');
  let made: Made = {};
  const isMade = await administration.addFirstSystem(
    { appId, masterKey, apiKey },
    {
      fill: (store, appId) => addAdministrator(contextOf(store, appId), administrator),
      async beforeCommit(credentials) {
        made = notGiven(given, credentials, administrator);
        if (!isComplete) await writeFile(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
      },
    },
  );
  if (!isMade || isComplete) return;
  print(`The first system was made. Its credentials are shown once and kept in ${file}`);
  for (const [name, value] of Object.entries(made)) print(`${labels[name as keyof Made]}: ${value}`);
}

/** Returns the generated credentials; given secrets are not written elsewhere. */
function notGiven(given: Secrets, { appId, masterKey, apiKey }: SystemCredentials, { email, password }: Administrator): Made {
  return {
    appId,
    ...(given.masterKey === undefined ? { masterKey } : {}),
    ...(given.apiKey === undefined ? { apiKey } : {}),
    adminEmail: email,
    ...(given.adminPassword === undefined ? { adminPassword: password } : {}),
  };
}
