import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { openCommandContext } from '../../src/command-context.ts';
import { parseSettings } from '../../src/config/config.ts';
import { newObjectId } from '../../src/kernel/ids.ts';
import { note } from './report.ts';

/**
 * Creations at a time: each waits for its commits most of the time. On PostgreSQL each holds a connection for the registry while it needs others, so
 * several could wait for each other.
 */
const AT_ONCE = { embedded: 4, postgres: 1 };
/** Time in milliseconds after which no further system is added, so that a slow machine gets to the end with fewer. */
const LIMIT_MS = 120_000;

/** An application id and its master key. */
export interface MadeSystem {
  readonly appId: string;
  readonly masterKey: string;
}

/**
 * Adds systems, without starting the program for each: this number, or as many as two minutes allow.
 * @param directory data directory of a service that has run and does not run now
 * @param database of PostgreSQL, if the service uses it
 */
export async function addSystems(directory: string, number: number, database?: { url: string }): Promise<MadeSystem[]> {
  const settings = { DATA_DIR: directory, LOG_LEVEL: 'silent', ...(database && { DATABASE_URL: database.url }) };
  const { config, secrets } = parseSettings(settings, directory);
  const context = await openCommandContext(config, secrets, 'used');
  const until = performance.now() + LIMIT_MS;
  let begun = 0;
  const made: MadeSystem[] = [];
  const { administration } = context;
  let original: MadeSystem | undefined;
  // The tables of a new system take a fifth of a second of processor time, a copy of one a third of that.
  const copy = async (of: MadeSystem) => {
    const place = newObjectId();
    await cp(join(directory, 'systems', of.appId), join(directory, 'systems', place), { recursive: true });
    return administration.adoptSystem({ place });
  };
  const add = async () => {
    while (begun++ < number && performance.now() < until) {
      const one = original && !database ? await copy(original) : await administration.addSystem({});
      original ??= one;
      made.push(one);
      if (made.length % 100 === 0) note(`${made.length} systems are made`);
    }
  };
  try {
    await Promise.all(Array.from({ length: database ? AT_ONCE.postgres : AT_ONCE.embedded }, add));
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
