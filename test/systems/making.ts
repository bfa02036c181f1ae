/** Makes a system as a restore does: in exchange for the present one, or beside it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBytes } from '../../src/command-context.ts';
import { parseSettings } from '../../src/config/config.ts';
import { createLog } from '../../src/observe/index.ts';
import { createRecord } from '../../src/records/index.ts';
import { masterContext } from '../../src/records/testing/context.ts';
import { nameBeside } from '../../src/storage/places.ts';
import { openStores } from '../../src/stores.ts';
import { Administration } from '../../src/systems/index.ts';
import { newEntry } from '../../src/systems/new-entry.ts';
import { provision } from '../../src/systems/provision.ts';
import type { Service } from '../support/service.ts';
import type { System } from './cli.ts';

/** The data that a system is made in. */
type Target = Pick<Service, 'settings' | 'dataDir'>;

const log = createLog('error');

function open({ settings, dataDir }: Target) {
  const { config, secrets } = parseSettings(settings, dataDir);
  return openStores(config, secrets.databaseUrl, log);
}

/**
 * Makes a system with a record and a file, and returns its credentials.
 * @param filled called before the system comes into force
 */
export async function makeSystem(
  target: Target,
  appId: string,
  how: 'exchange' | 'beside',
  filled: () => Promise<void> = async () => {},
): Promise<System> {
  const { config } = parseSettings(target.settings, target.dataDir);
  const { registry, engine, close } = await open(target);
  try {
    const openFiles = () => openBytes(config, log);
    const { entry, key, credentials } = newEntry(registry.salt, { appId });
    const isExchange = how === 'exchange';
    const system = { ...entry, place: isExchange ? nameBeside(appId) : appId };
    await new Administration(registry, engine, openFiles).makeSystem(
      {
        ...system,
        act: { act: 'system', subject: appId },
        async fill(store) {
          await provision(store);
          await createRecord(masterContext(store), 'Made', { by: 'maker' });
          const files = await openFiles();
          // Each its own: two processes may make systems at a time.
          const path = join(config.dataDir, `made-file-${appId}`);
          await writeFile(path, 'of the maker');
          const size = 12;
          await files.put(store.place, '0'.repeat(32), { path, size, sample: Buffer.alloc(0), discard: async () => {} });
          await files.close();
          await filled();
          return { system, keys: [key] };
        },
      },
      isExchange,
    );
    return credentials;
  } finally {
    await close();
  }
}

/** Holds a system. */
export async function holdSystem(target: Target, appId: string): Promise<void> {
  const { registry, close } = await open(target);
  await registry.holdSystem(appId, Date.now());
  await close();
}
