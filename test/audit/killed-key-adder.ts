/**
 * A process that adds an API key and kills itself: `killed-key-adder.ts APP NAME KEY before|after`, before the act's row is written in the system's
 * log, or after that, before the registry forgets the act.
 */
import { parseSettings } from '../../src/config/config.ts';
import { createLog } from '../../src/observe/index.ts';
import type { Engine } from '../../src/storage/engine.ts';
import type { Registry } from '../../src/storage/registry.ts';
import { openStores } from '../../src/stores.ts';
import { Administration } from '../../src/systems/index.ts';

const { DATABASE_URL, DATA_DIR = '' } = process.env;
const [appId = '', name = '', key = '', moment] = process.argv.slice(2);
const { config, secrets } = parseSettings({ DATA_DIR, ...(DATABASE_URL !== undefined && { DATABASE_URL }) }, process.cwd());
const { registry, engine } = await openStores(config, secrets.databaseUrl, createLog('error'));

/** Returns an object whose method kills the process. */
function deadly<T extends object>(parts: T, method: keyof T): T {
  return new Proxy(parts, {
    get(target, property) {
      if (property === method) return () => process.kill(process.pid, 'SIGKILL');
      const value = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const [registryUsed, engineUsed]: [Registry, Engine] =
  moment === 'before' ? [registry, deadly(engine, 'open')] : [deadly(registry, 'actsDelivered'), engine];
await new Administration(registryUsed, engineUsed, () => Promise.reject(new Error('no files'))).addKey(appId, name, key);
