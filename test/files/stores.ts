/** The places that the suites of files run on: an engine, and a store for the bytes. */
import { after, before, describe } from 'node:test';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { fileObject, type Place, type Uploaded, type UploadOptions, uploadFile } from '../support/files.ts';
import { type Store, storeOf } from '../support/records.ts';
import { type EngineName, engines, type Service, startService } from '../support/service.ts';

type S3Server = Awaited<ReturnType<typeof startS3>>;
export type StoreName = 'disk' | 's3';

/** A service with a store for files. */
export interface Files extends Store {
  engine: EngineName;
  kind: StoreName;
  /** The settings of the store of files, for commands of the operator and for further processes. */
  env(): Record<string, string>;
  /** The S3 server, where there is one. */
  s3(): S3Server;
  /** An upload that must succeed, with the application id alone. */
  upload(fileName?: string, bytes?: string | Uint8Array, options?: UploadOptions): Promise<Uploaded>;
  /** A new record of a new table that holds the file in its field `F`. */
  attached(type: 'File' | 'PrivateFile', file: Uploaded): Promise<Place>;
}

/** Both engines with files on the disk, and one with an S3 server. */
const usual: readonly [EngineName, StoreName][] = [
  ['sqlite', 'disk'],
  ['postgres', 'disk'],
  ['sqlite', 's3'],
];

export const everyPlace: typeof usual = [...usual, ['postgres', 's3']];

/** Describes a suite on each place, each with a service of its own. */
export function onEachStore(suite: (files: Files) => void, places: typeof usual = usual, env: Record<string, string> = {}): void {
  for (const [engine, kind] of places)
    if (engines.includes(engine)) describe(`${engine}, ${kind}`, () => suite(useFiles(engine, kind, env)));
}

/** On each engine, with files on the disk. */
export const onEachEngine = (suite: (files: Files) => void, env: Record<string, string> = {}): void =>
  onEachStore(suite, usual.slice(0, 2), env);

/** The settings that lead to a store of its own on an S3 server. */
export const settingsOfS3 = (s3: S3Server, prefix = 'files'): Record<string, string> => ({
  FILES_URL: s3.filesUrl(prefix),
  ...s3.env,
});

/** The test's S3 server deletes a folder that has become empty, and with it what is being put there: one file stays for good. */
async function keepFolder(service: Service): Promise<void> {
  const file = await uploadFile(service, 'stays.txt', 'stays');
  await service.call('POST', '/platform/classes/Stays', { body: { F: fileObject(file) } });
}

/** Starts one service, and what it needs, for the surrounding `describe`, and stops it after its last test. */
export function useFiles(engine: EngineName, kind: StoreName = 'disk', more: Record<string, string> = {}): Files {
  let service: Service | undefined;
  let s3: S3Server | undefined;
  const env = () => (s3 === undefined ? more : { ...more, ...settingsOfS3(s3) });
  before(async () => {
    if (kind === 's3') s3 = await startS3();
    service = await startService({ engine, env: env() });
    if (kind === 's3') await keepFolder(service);
  });
  after(async () => {
    await service?.stop();
    await s3?.stop();
  });
  const store = storeOf(() => {
    if (service === undefined) throw new Error('the service does not run');
    return service;
  });
  return {
    ...store,
    engine,
    kind,
    env,
    s3() {
      if (s3 === undefined) throw new Error('there is no S3 server');
      return s3;
    },
    upload: (...args) => uploadFile(store.service(), ...args),
    async attached(type, file) {
      const table = await store.table({ F: type });
      return { table, id: await store.create(table, { F: fileObject(file) }), field: 'F' };
    },
  };
}
