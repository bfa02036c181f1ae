// @ts-nocheck Its packages are installed where it runs.
import { writeFile } from 'node:fs/promises';
import Parse from 'parse/node';
import { readAll } from './reading.mjs';

// Started by bench/workloads/migrate.ts: node read.mjs <address> <app id> <master key> <file>. Stores what the SDK reads from this service.
const [serverURL, appId, masterKey, file] = process.argv.slice(2);
Parse.initialize(appId, undefined, masterKey);
Parse.serverURL = serverURL;
await writeFile(file, JSON.stringify(await readAll()));
