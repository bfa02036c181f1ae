/** What a run of many test files shares: a PostgreSQL server, and the data of a service that has started once, to be copied. */
import { SERVER_VARIABLE, sharedServer } from '../../src/storage/postgres/testing/server.ts';
import { engines, handDown, makeData, type OwnData } from './data.ts';
import { useMemoryDirectory } from './memory-directory.ts';
import { startService } from './service.ts';

const made: OwnData[] = [];
let close = async (): Promise<void> => {};

/** Called by the test runner before the first file. */
export async function globalSetup(): Promise<void> {
  useMemoryDirectory();
  const server = await sharedServer();
  close = server.close;
  process.env[SERVER_VARIABLE] = server.url;
  for (const engine of engines) {
    const data = await makeData(engine, false);
    made.push(data);
    const service = await startService({ engine, ...data });
    await service.stop();
    handDown(data);
  }
}

/** Called by the test runner after the last file. */
export async function globalTeardown(): Promise<void> {
  for (const data of made) await data.remove();
  await close();
}
