/** A process that makes a system: `maker.ts APP`. It prints `waiting` before the system comes into force, and waits to be killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { makeSystem } from './making.ts';

const { DATABASE_URL, DATA_DIR = '' } = process.env;
const settings = { DATA_DIR, ...(DATABASE_URL !== undefined && { DATABASE_URL }) };
await makeSystem({ settings, dataDir: process.cwd() }, process.argv[2] ?? '', 'beside', async () => {
  console.log('waiting');
  await wait(60_000);
});
