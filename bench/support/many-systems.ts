import { openCommandContext } from '../../src/command-context.ts';
import { parseSettings } from '../../src/config/config.ts';
import { note } from './report.ts';

/** Creations at a time: each waits for its commits most of the time. */
const AT_ONCE = 4;

/** An application id and its master key. */
export interface MadeSystem {
  readonly appId: string;
  readonly masterKey: string;
}

/**
 * Adds systems, without starting the program for each.
 * @param directory data directory of a service that has run and does not run now
 * @param database of PostgreSQL, if the service uses it
 */
export async function addSystems(directory: string, number: number, database?: { url: string }): Promise<MadeSystem[]> {
  const settings = { DATA_DIR: directory, LOG_LEVEL: 'silent', ...(database && { DATABASE_URL: database.url }) };
  const { config, secrets } = parseSettings(settings, directory);
  const context = await openCommandContext(config, secrets, 'used');
  let begun = 0;
  const made: MadeSystem[] = [];
  const add = async () => {
    while (begun++ < number) {
      made.push(await context.administration.addSystem({}));
      if (made.length % 100 === 0) note(`${made.length} systems are made`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, add));
  } finally {
    await context.close();
  }
  return made;
}

/** Returns the headers of the master of a system. */
export const masterOf = ({ appId, masterKey }: MadeSystem): Record<string, string> => ({
  'X-Platform-Application-Id': appId,
  'X-Platform-Master-Key': masterKey,
});
