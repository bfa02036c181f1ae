/** The combinations of engine and file store that the suites of files run on. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { fileObject, type Place, type Uploaded, type UploadOptions, uploadFile } from '../support/files.ts';
import { type Store, storeOf } from '../support/records.ts';
import { anyEngine, type EngineName, engines, type Service, sampledEngines, startService } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { serviceOf } from '../systems/cli.ts';
import { addSystem } from './operator.ts';

type S3Server = Awaited<ReturnType<typeof startS3>>;
export type StoreName = 'disk' | 's3';

/** A service and its file store. */
export interface Files extends Store {
  engine: EngineName;
  kind: StoreName;
  /** Settings of the file store, for commands and for further processes. */
  env(): Record<string, string>;
  /** The S3 server. Throws if the files are on disk. */
  s3(): S3Server;
  /** Uploads with the application id alone; this must succeed. */
  upload(fileName?: string, bytes?: string | Uint8Array, options?: UploadOptions): Promise<Uploaded>;
  /** Creates a record that holds the file in its field `F`, in a new table. */
  attached(type: 'File' | 'PrivateFile', file: Uploaded): Promise<Place>;
}

/** Each engine and each store once: they do not depend on each other. */
export const usual: readonly [EngineName, StoreName][] = [
  ['sqlite', 'disk'],
  ['postgres', 's3'],
];

export const everyPlace: typeof usual = [...usual, ['postgres', 'disk'], ['sqlite', 's3']];

/** For suites that do not depend on the engine: each store once, whichever engines TEST_ENGINES names. */
export const bothStores: typeof usual =
  process.env.TEST_ENGINES === undefined
    ? usual
    : anyEngine.flatMap((engine): [EngineName, StoreName][] => [
        [engine, 'disk'],
        [engine, 's3'],
      ]);

/** Describes a suite on each combination. @param use provides the service */
export function onEachStore(suite: (files: Files) => void, places: typeof usual = usual, use: typeof useFiles = useFiles): void {
  for (const [engine, kind] of places)
    if (engines.includes(engine)) describe(`${engine}, ${kind}`, () => suite(use(engine, kind)));
}

/** Describes a suite on one engine, with files on disk. */
export function onEachEngine(suite: (files: Files) => void, use: typeof useFiles = useFiles): void {
  for (const engine of sampledEngines()) describe(`${engine}, disk`, () => suite(use(engine, 'disk')));
}

/** Settings of a file store in a folder of an S3 server. */
export const settingsOfS3 = (s3: S3Server, prefix = 'files'): Record<string, string> => ({
  FILES_URL: s3.filesUrl(prefix),
  ...s3.env,
});

/**
 * Uploads one file that stays. The S3 server of the tests deletes a folder that has become empty, together with files that are being written
 * into it.
 */
async function keepFolder(service: Service): Promise<void> {
  const file = await uploadFile(service, 'stays.txt', 'stays');
  await service.call('POST', '/platform/classes/Stays', { body: { F: fileObject(file) } });
}

/** A service, and the S3 server of its files if they are on one. */
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

// Runs after the services have stopped.
after(async () => (await s3ForAll)?.stop());

function sharedPlace(engine: EngineName, kind: StoreName): Promise<Running> {
  const place = `${engine}, ${kind}`;
  const started = shared.get(place) ?? startShared(engine, kind);
  shared.set(place, started);
  return started;
}

/** Provides the service that the suites of this process share to the surrounding `describe`. */
export function useFiles(engine: EngineName, kind: StoreName = 'disk'): Files {
  let running: Running | undefined;
  before(async () => {
    running = await sharedPlace(engine, kind);
  });
  return filesOf(engine, kind, () => running);
}

/** Adds a system to the shared service for the surrounding `describe`: for suites that count all files of a system. */
export function useUnusedFiles(engine: EngineName, kind: StoreName = 'disk'): Files {
  let running: Running | undefined;
  before(async () => {
    const { service, ...rest } = await sharedPlace(engine, kind);
    running = { ...rest, service: serviceOf(service, await addSystem(service, rest.env)) };
  });
  return filesOf(engine, kind, () => running);
}

/** Starts a service for the surrounding `describe` alone. @param more further settings */
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
