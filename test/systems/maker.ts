/**
 * A process that makes a system as a restore does, in exchange or beside others: `maker.ts APP exchange|beside done|waits`. It prints the
 * credentials, a line each, or `waiting` where it is to be killed in the midst of it. `maker.ts APP hold` has one that is there held.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadSettings } from '../../src/config/index.ts';
import { createLog } from '../../src/observe/index.ts';
import { createRecord } from '../../src/records/index.ts';
import { masterContext } from '../../src/records/testing/context.ts';
import { nameBeside } from '../../src/storage/places.ts';
import { openStores } from '../../src/stores.ts';
import { Administration } from '../../src/systems/index.ts';
import { newEntry } from '../../src/systems/new-entry.ts';
import { provision } from '../../src/systems/provision.ts';
import { openBytes } from '../../src/workshop.ts';

const [appId = '', how, end] = process.argv.slice(2);
const { config, secrets } = loadSettings(process.cwd());
const log = createLog('error');
const { registry, engine, close } = await openStores(config, secrets.databaseUrl, log);
if (how === 'hold') {
  await registry.holdSystem(appId, Date.now());
  await close();
  process.exit();
}
const openFiles = () => openBytes(config, log);
const administration = new Administration(registry, engine, openFiles);
const { entry, key, credentials } = newEntry(registry.salt, { appId });
const isExchange = how === 'exchange';
const system = { ...entry, place: isExchange ? nameBeside(appId) : appId };
await administration.makeSystem(
  {
    ...system,
    async fill(store) {
      await provision(store);
      await createRecord(masterContext(store), 'Made', { by: 'maker' });
      const files = await openFiles();
      const path = join(config.dataDir, 'made-file');
      await writeFile(path, 'of the maker');
      const size = 12;
      await files.put(store.place, '0'.repeat(32), { path, size, sample: Buffer.alloc(0), discard: async () => {} });
      await files.close();
      if (end === 'waits') {
        console.log('waiting');
        await new Promise((resume) => setTimeout(resume, 60_000));
      }
      return { system, keys: [key] };
    },
  },
  isExchange,
);
for (const value of Object.values(credentials)) console.log(value);
await close();
