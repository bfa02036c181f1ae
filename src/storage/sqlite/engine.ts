import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileAddresses } from '../../config/index.ts';
import { serviceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { syncDirectory } from '../../kernel/sync-directory.ts';
import type { Conditions, Observations } from '../../observe/index.ts';
import type {
  Engine,
  EngineLoad,
  GenerationGrown,
  OpenedStore,
  PendingRows,
  PlaceLock,
  Purpose,
  Unreachable,
} from '../engine.ts';
import {
  checkFound,
  checkRemovable,
  type Found,
  type KnownStore,
  type Removable,
  refusalOf,
  type StoredPlace,
  type StoreIdentity,
  StoreRefused,
} from '../identity.ts';
import type { Level } from '../migrations.ts';
import type { Store } from '../port.ts';
import { embeddedCluster } from './cluster/cluster.ts';
import { tryLockPlace } from './cluster/place-lock.ts';
import { DirectoryProbe } from './file/directory-probe.ts';
import { filesAtRest } from './file/files-at-rest.ts';
import { kindOfOpening, openingFault } from './file/opening-error.ts';
import { recordGenerationIfMissing } from './file/record-generation.ts';
import { whenIndexed } from './file/wal-index.ts';
import { WalMark } from './file/wal-mark.ts';
import { ReaderPool, type ReportFault } from './reads/reader-pool.ts';
import { checkOpened, identifyFile, inspectFile, makeFile, stateOfFile, takeFile, verifyFile } from './schema/identity.ts';
import { levelsOf } from './schema/look.ts';
import { SqliteStore } from './store.ts';
import { fileOf, LOCK, namesIn, sizesOf, storedFiles } from './stored-files.ts';

/** Settings and callbacks of the engine. */
export interface SqliteSettings {
  /** Time limit of a query in milliseconds (QUERY_TIMEOUT_MS). */
  readonly timeLimit: number;
  /** Called with faults that no client sees. */
  readonly report: ReportFault;
  /** Receives transient faults, by the application id of their system; optional. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Receives commits and waits of reads; optional. */
  readonly observations?: Observations;
  /** Called when the file of a served system is considered damaged, and when it no longer is. */
  readonly onDamaged?: (systemId: string, isDamaged: boolean) => void;
  /** Returns whether another process serves the systems. */
  readonly isServedElsewhere?: () => boolean;
  /** Returns the present addresses of a system's files, as clients see them. */
  readonly addressesOf: (appId: string) => FileAddresses;
}

/** The embedded engine: a SQLite file per system, under one directory. */
export class SqliteEngine implements Engine {
  readonly cluster = embeddedCluster;
  readonly #directory: string;
  readonly #pool: ReaderPool;
  readonly #report: ReportFault;
  readonly #conditions: SqliteSettings['conditions'];
  readonly #observations: SqliteSettings['observations'];
  readonly #onDamaged: SqliteSettings['onDamaged'];
  readonly #addressesOf: SqliteSettings['addressesOf'];
  readonly #isServedElsewhere: () => boolean;
  readonly #stores = new Set<SqliteStore>();
  readonly #probe: DirectoryProbe;
  #probing: Promise<void> | undefined;

  /** @param directory the parent of the systems' folders */
  constructor(directory: string, settings: SqliteSettings) {
    const { timeLimit, report, conditions, observations, onDamaged, isServedElsewhere, addressesOf } = settings;
    this.#observations = observations;
    this.#isServedElsewhere = isServedElsewhere ?? (() => false);
    this.#directory = directory;
    this.#probe = new DirectoryProbe(directory);
    this.#report = report;
    this.#conditions = conditions;
    this.#onDamaged = onDamaged;
    this.#addressesOf = addressesOf;
    this.#pool = new ReaderPool(timeLimit, report, undefined, conditions, observations);
  }

  async lockPlace(place: string): Promise<PlaceLock | null> {
    await mkdir(this.#directory, { recursive: true });
    const release = tryLockPlace(join(this.#directory, `${LOCK}${place}`));
    // Remove lock files that a crash left: if their places are never locked again, nothing else removes them.
    if (release)
      for (const name of await namesIn(this.#directory)) if (name.startsWith(LOCK)) tryLockPlace(join(this.#directory, name))?.();
    return release && { release: async () => release() };
  }

  async create(identity: StoreIdentity, place = identity.appId): Promise<Store> {
    const { making } = identity;
    if (making === null) throw new Error('a store is made before it is in force');
    const folder = this.#folderOf(place);
    if (checkRemovable(onFile(fileOf(folder), inspectFile), { making })) await this.#removeFolder(place, making);
    else await refuseUsed(folder);
    // Rename a complete folder into place. It contains the mark of the installation that is creating it.
    const fresh = this.#freshOf(place, making);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    onFile(fileOf(fresh), (path) => makeFile(path, identity));
    await syncDirectory(fresh);
    await rename(fresh, folder);
    await syncDirectory(this.#directory);
    const log = WalMark.before(fileOf(folder), identity.systemId);
    log.setGeneration(identity.generation);
    return this.#openFile(identity, place, log);
  }

  async open(known: KnownStore, purpose: Purpose, grown?: GenerationGrown): Promise<OpenedStore> {
    const path = fileOf(this.#folderOf(known.place));
    try {
      await whenIndexed(path, this.#isServedElsewhere);
      const state = stateOfFile(path);
      if (state) throw new StoreRefused(state, path);
      const log = WalMark.before(path, known.systemId);
      const found = inspectFile(path);
      const minGeneration =
        refusalOf(found, known) === 'older'
          ? Math.min(known.generation, log.generationWithoutLog() ?? known.generation)
          : known.generation;
      checkFound(found, { ...known, generation: minGeneration });
      const { identity, missingSince, close } = takeFile(path, known, purpose, log, minGeneration);
      let store: Store | undefined;
      try {
        store = this.#openFile(identity, known.place, log, purpose === 'serving' ? grown : undefined);
      } finally {
        close();
        if (!store) await log.closed();
      }
      this.#conditions?.over({ app: known.appId, file: path });
      return { store, identity, missingSince };
    } catch (error) {
      const kind = kindOfOpening(error, path);
      if (kind) this.#conditions?.met(kind, { app: known.appId, file: path }, error);
      throw openingFault(error, path);
    }
  }

  atRest(stores: readonly KnownStore[], version: number, wanted: readonly PendingRows[]): Promise<ReadonlySet<string>> {
    return filesAtRest(stores, ({ place }) => fileOf(this.#folderOf(place)), version, wanted);
  }

  async inspect(place: string): Promise<Found> {
    return onFile(fileOf(this.#folderOf(place)), inspectWithLog);
  }

  async stored(except: ReadonlySet<string> = new Set()): Promise<readonly StoredPlace[]> {
    return storedFiles(this.#directory, except);
  }

  async unfinished(making: string, except: ReadonlySet<string>): Promise<readonly string[]> {
    const aside = [this.#freshOf('', making), this.#goneOf('', making)].map((path) => basename(path));
    const names = new Set<string>();
    for (const name of await namesIn(this.#directory)) {
      const mark = aside.find((one) => name.startsWith(one));
      if (mark !== undefined) names.add(name.slice(mark.length));
    }
    for (const { name } of await this.stored(except))
      if (name !== null && (await this.inspect(name).catch(() => null))?.identity?.making === making) names.add(name);
    return [...names].filter((name) => !except.has(name));
  }

  async identify(identity: StoreIdentity, place = identity.appId): Promise<void> {
    onFile(fileOf(this.#folderOf(place)), (path) => identifyFile(path, identity));
  }

  async levels(place: string): Promise<{ pending: number; system: Level }> {
    return onFile(fileOf(this.#folderOf(place)), levelsOf);
  }

  async verify(place: string): Promise<string | null> {
    return onFile(fileOf(this.#folderOf(place)), verifyFile);
  }

  async remove(place: string, owner: Removable): Promise<void> {
    const mark = 'making' in owner ? owner.making : owner.systemId;
    // Left by a removal or creation that was interrupted.
    await rm(this.#goneOf(place, mark), { recursive: true, force: true });
    if ('making' in owner) await rm(this.#freshOf(place, mark), { recursive: true, force: true });
    if (checkRemovable(await this.inspect(place), owner)) await this.#removeFolder(place, mark);
  }

  /** Renames the folder first, so that an interrupted removal leaves its rest outside the place. */
  async #removeFolder(place: string, mark: string): Promise<void> {
    const gone = this.#goneOf(place, mark);
    await rm(gone, { recursive: true, force: true });
    await rename(this.#folderOf(place), gone);
    await syncDirectory(this.#directory);
    await rm(gone, { recursive: true, force: true });
  }

  #openFile(identity: StoreIdentity, place: string, log: WalMark, grown?: GenerationGrown): Store {
    const { appId, systemId } = identity;
    const path = fileOf(this.#folderOf(place));
    let served = identity;
    const store: SqliteStore = new SqliteStore(path, {
      pool: this.#pool,
      log,
      ...(grown ? { grown } : {}),
      report: this.#report,
      appId,
      place,
      ...(this.#conditions ? { conditions: this.#conditions } : {}),
      ...(this.#observations ? { observations: this.#observations } : {}),
      addresses: () => this.#addressesOf(appId),
      verify: (db, isAnother) => {
        served = { ...served, generation: checkOpened(db, path, served, isAnother) };
        if (isAnother) log.fileReplaced();
      },
      ...(grown && { onMissed: (db) => recordGenerationIfMissing(db, { log, grown }) }),
      onDamaged: (isDamaged) => this.#onDamaged?.(systemId, isDamaged),
      onClosed: () => this.#stores.delete(store),
    });
    this.#stores.add(store);
    return store;
  }

  #folderOf(place: string): string {
    return join(this.#directory, place);
  }

  /** Returns the folder in which a store is created before it is moved to its place. */
  #freshOf(place: string, making: string): string {
    return join(this.#directory, `.new-${making}-${place}`);
  }

  #goneOf(place: string, mark: string): string {
    return join(this.#directory, `.gone-${mark}-${place}`);
  }

  /** Checks that the data directory works. Callers share a check that hangs: several would occupy the threads that all file operations share. */
  async probe(): Promise<Unreachable> {
    // All files are on one device: an I/O error of one system means that the storage fails. Its store detects by itself when it works again.
    for (const store of this.#stores) if (store.isAwayForIo) throw serviceError('unavailable');
    this.#probing ??= this.#probe.check().finally(() => {
      this.#probing = undefined;
    });
    await this.#probing;
    return { nodes: 0, systems: 0 };
  }

  load(): EngineLoad {
    return { reads: { thread: this.#pool.busy }, connections: null };
  }

  sizes(places: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return sizesOf(places, (place) => fileOf(this.#folderOf(place)));
  }

  nodes = async () => () => null;

  warmUp(): void {
    this.#pool.warmUp();
  }

  async close(): Promise<void> {
    this.#probe.close();
    await this.#pool.close();
  }
}

/** Returns what is in a system's file, provided that the WAL beside it belongs to it. */
function inspectWithLog(path: string): Found {
  const found = inspectFile(path);
  if (!found.identity) return found;
  try {
    WalMark.before(path, found.identity.systemId);
    return found;
  } catch (error) {
    if (error instanceof StoreRefused)
      return { ...found, place: error.place, state: error.why, ...(error.place === path && { isAlone: true }) };
    throw error;
  }
}

/** Runs work on a file; errors name the file. */
function onFile<T>(path: string, work: (path: string) => T): T {
  try {
    return work(path);
  } catch (error) {
    throw openingFault(error, path);
  }
}

/** @throws OperatorError if the folder contains anything */
async function refuseUsed(folder: string): Promise<void> {
  const [name] = await namesIn(folder);
  if (name !== undefined) throw new OperatorError(`${join(folder, name)} is there, and nothing says that it may be removed`);
}
