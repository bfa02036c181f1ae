import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { parseS3Url, type S3Location } from '../../../config/files-url.ts';
import { startS3, type TestS3 } from '../../testing/s3-server.ts';
import { S3Store } from '../s3.ts';

/** A store in a bucket, for the tests of a file. */
export interface StoreOnS3 {
  server: TestS3;
  store: S3Store;
  /** Directory for receiving uploads. */
  readonly incoming: string;
  /** Faults that the store reported. */
  readonly faults: string[];
}

/** Starts a server before the tests of a file, and stops it after them. */
export function storeOnS3(): StoreOnS3 {
  const incoming = mkdtempSync(join(tmpdir(), 'test-s3-incoming-'));
  const made = { incoming, faults: [] as string[] } as StoreOnS3;
  before(async () => {
    made.server = await startS3();
    useKeys(made.server.env);
    made.store = await S3Store.open(locationOf(made.server.filesUrl('some/prefix')), incoming, (fault) =>
      made.faults.push(fault),
    );
  });
  beforeEach(() => {
    made.server.intercept = null;
    made.server.requests.length = 0;
    made.faults.length = 0;
  });
  after(async () => {
    await made.store?.close();
    await made.server?.stop();
    await rm(incoming, { recursive: true });
  });
  return made;
}

/** Sets the keys for clients created from now on. */
export function useKeys(env: Readonly<Record<string, string>>): void {
  // biome-ignore lint/style/noProcessEnv: this is where the client looks for keys
  Object.assign(process.env, env);
}

/** @throws Error if the address is malformed */
export function locationOf(filesUrl: string): S3Location {
  const location = parseS3Url(filesUrl);
  if (!location) throw new Error(`malformed: ${filesUrl}`);
  return location;
}

/** More bytes than the buffers of a connection hold. */
export const largeBytes = (): Buffer => randomBytes(24 * 1024 * 1024);
