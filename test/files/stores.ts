/** The places that the suites of files run on: an engine, and a store for the bytes. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { fileObject, type Place, type Uploaded, type UploadOptions, uploadFile } from '../support/files.ts';
import { type Store, storeOf } from '../support/records.ts';
import { anyEngine, type EngineName, engines, type Service, sampledEngines, startService } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

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

/** Each engine once, and each store: neither has a say in what the other does. */
export const usual: readonly [EngineName, StoreName][] = [
  ['sqlite', 'disk'],
  ['postgres', 's3'],
];

export const everyPlace: typeof usual = [...usual, ['postgres', 'disk'], ['sqlite', 's3']];

/** For suites that do not depend on the engine. */
export const bothStores: typeof usual = anyEngine.flatMap((engine): [EngineName, StoreName][] => [
  [engine, 'disk'],
  [engine, 's3'],
]);

/** Describes a suite on each place. @param use what gives it the service of the place */
export function onEachStore(suite: (files: Files) => void, places: typeof usual = usual, use: typeof useFiles = useFiles): void {
  for (const [engine, kind] of places)
    if (engines.includes(engine)) describe(`${engine}, ${kind}`, () => suite(use(engine, kind)));
}

/** On one engine, with files on the disk. */
export function onEachEngine(suite: (files: Files) => void, use: typeof useFiles = useFiles): void {
  for (const engine of sampledEngines()) describe(`${engine}, disk`, () => suite(use(engine, 'disk')));
}

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

/** A service, and the S3 server of its files where they are on one. */
interface Running {
  service: Service;
  s3: S3Server | undefined;
  env: Record<string, string>;
}

let s3ForAll: Promise<S3Server> | undefined;
const shared = new Map<string, Promise<Running>>();

async function startShared(engine: EngineName, kind: StoreName): Promise<Running> {
  if (kind === 'disk') return { service: await sharedService(engine), s3: undefined, env: {} };
  s3ForAll ??= startS3();
  const s3 = await s3ForAll;
  const env = settingsOfS3(s3, engine);
  const service = await sharedService(engine, env);
  await keepFolder(service);
  return { service, s3, env };
}

// After the services, which end first.
after(async () => (await s3ForAll)?.stop());

/** The service of the place that the suites of this process share, from the surrounding `describe` on. */
export function useFiles(engine: EngineName, kind: StoreName = 'disk'): Files {
  let running: Running | undefined;
  before(async () => {
    const place = `${engine}, ${kind}`;
    const started = shared.get(place) ?? startShared(engine, kind);
    shared.set(place, started);
    running = await started;
  });
  return filesOf(engine, kind, () => running);
}

/** A service of the surrounding `describe` alone: for what others would see, or would disturb. @param more further settings */
export function useOwnFiles(engine: EngineName, kind: StoreName = 'disk', more: Record<string, string> = {}): Files {
  let running: Running | undefined;
  let s3: S3Server | undefined;
  before(async () => {
    if (kind === 's3') s3 = await startS3();
    const env = { ...more, ...(s3 && settingsOfS3(s3)) };
    const service = await startService({ engine, env });
    running = { service, s3, env };
    if (s3) await keepFolder(service);
  });
  after(async () => {
    await running?.service.stop();
    await s3?.stop();
  });
  return filesOf(engine, kind, () => running);
}

function filesOf(engine: EngineName, kind: StoreName, get: () => Running | undefined): Files {
  const running = () => get() ?? assert.fail('the service does not run');
  const store = storeOf(() => running().service);
  return {
    ...store,
    engine,
    kind,
    env: () => running().env,
    s3: () => running().s3 ?? assert.fail('there is no S3 server'),
    upload: (...args) => uploadFile(store.service(), ...args),
    async attached(type, file) {
      const table = await store.table({ F: type });
      return { table, id: await store.create(table, { F: fileObject(file) }), field: 'F' };
    },
  };
}
