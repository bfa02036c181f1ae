import type { FileAddresses } from '../../config/index.ts';
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
  type StoredPlace,
  type StoreIdentity,
  StoreRefused,
} from '../identity.ts';
import type { Level } from '../migrations.ts';
import type { Store } from '../port.ts';
import { isAtRest, pendingRowsStatement } from '../sql/pending-rows.ts';
import { PostgresCluster } from './cluster/cluster.ts';
import { newExclusiveName, requireExclusiveAccess } from './cluster/exclusive-access.ts';
import { channel, InvalidationBus } from './cluster/invalidation.ts';
import { Liveness } from './cluster/liveness.ts';
import { tryLockPlace } from './cluster/place-lock.ts';
import { connectDatabase } from './connection/connect-database.ts';
import type { Database, Session } from './connection/database.ts';
import { Listener } from './connection/listener.ts';
import { isSchemaStale, unavailable } from './connection/map-error.ts';
import { locationsFrom, locationsStatement } from './connection/node-locations.ts';
import { PostgresRegistry } from './registry.ts';
import { dropSchema } from './schema/drop-schema.ts';
import { insertIdentity, inspectSchema, placeOf, refuseLost, storedSchemas, takeIdentity } from './schema/identity.ts';
import { levelsOf } from './schema/look.ts';
import { makeCatalog, openCatalog } from './schema/migrations.ts';
import { readSizes } from './schema/sizes.ts';
import { postgresDialect } from './sql/dialect.ts';
import { schemaName } from './sql/names.ts';
import { PostgresStore } from './store.ts';

/** Settings and collaborators of the engine. */
export interface PostgresSettings {
  /** Milliseconds that a query may run (QUERY_TIMEOUT_MS). */
  readonly timeLimit: number;
  /** Maximum number of connections of this process (DATABASE_CONNECTIONS). */
  readonly connections: number;
  /** Whether this process needs the database exclusively; no other process can then start to use it. */
  readonly alone?: boolean;
  /** Whether a registry may be created although schemas of systems exist, which are then adopted one by one. */
  readonly mayCreateRegistry?: boolean;
  /** Receives faults that no client sees. */
  readonly report: (fault: string) => void;
  /** Receives passing faults, by the application id of their system. If absent, they are not reported. */
  readonly conditions?: Pick<Conditions, 'met' | 'over'>;
  /** Receives commits and waits of reads; optional. */
  readonly observations?: Observations;
  /** Addresses of a system's files, as clients see them at present. */
  readonly addressesOf: (appId: string) => FileAddresses;
}

/** PostgreSQL: a schema for each system and one set of connections for them all. Any number of processes may share the database. */
export class PostgresEngine implements Engine {
  readonly registry: PostgresRegistry;
  readonly cluster: PostgresCluster;
  readonly #database: Database;
  readonly #listener: Listener;
  readonly #invalidations: InvalidationBus;
  readonly #settings: PostgresSettings;

  private constructor(
    database: Database,
    listener: Listener,
    invalidations: InvalidationBus,
    cluster: PostgresCluster,
    registry: PostgresRegistry,
    settings: PostgresSettings,
  ) {
    this.#database = database;
    this.#listener = listener;
    this.#invalidations = invalidations;
    this.cluster = cluster;
    this.registry = registry;
    this.#settings = settings;
  }

  /** Connects. @throws OperatorError if that fails or is refused; its text is one line without secrets */
  static async connect(url: string, settings: PostgresSettings): Promise<PostgresEngine> {
    const { report, alone = false } = settings;
    const name = alone ? newExclusiveName() : undefined;
    const database = await connectDatabase(url, { ...settings, name });
    const invalidations = new InvalidationBus();
    const liveness = new Liveness();
    const listener = new Listener(url, database, {
      channel,
      name,
      liveness,
      report,
      onNotification: (text) => invalidations.deliver(text),
      onReliable: () => invalidations.markStale(),
    });
    try {
      listener.start();
      await requireExclusiveAccess(database, name);
      invalidations.connect(listener);
      await refuseLost(database, settings.mayCreateRegistry ?? false);
      const registry = await PostgresRegistry.open(database, invalidations);
      return new PostgresEngine(database, listener, invalidations, new PostgresCluster(database, liveness), registry, settings);
    } catch (error) {
      await listener.close();
      await database.close();
      throw error;
    }
  }

  async probe(): Promise<Unreachable> {
    if (this.#database.outage.cannotWrite) throw unavailable();
    await this.#database.probe();
    return this.#database.outage.nodes.unreachable;
  }

  async nodes(): Promise<(place: string) => string | null> {
    if (!this.#database.isCoordinator) return () => null;
    // The server may have the extension without this database.
    const rows = await this.#database
      .short(locationsStatement)
      .catch((error) => (isSchemaStale(error) ? [] : Promise.reject(error)));
    const { bySchema } = locationsFrom(rows);
    return (place) => bySchema.get(schemaName(place)) ?? null;
  }

  /** Nothing to do: connections are opened quickly on demand. */
  warmUp(): void {}

  lockPlace(place: string): Promise<PlaceLock | null> {
    return tryLockPlace(this.#database, place);
  }

  async create(identity: StoreIdentity, place = identity.appId): Promise<Store> {
    const { appId, making } = identity;
    const schema = schemaName(place);
    if (making === null) throw new Error('a store is made before it is in force');
    if (checkRemovable(await this.inspect(place), { making })) await dropSchema(this.#database, schema);
    await makeCatalog(this.#database, schema, identity);
    return this.#open(appId, place);
  }

  async open(known: KnownStore, purpose: Purpose, grown?: GenerationGrown): Promise<OpenedStore> {
    const { appId, place } = known;
    checkFound(await this.inspect(place), known);
    const store = await this.#open(appId, place, purpose === 'serving' ? grown : undefined).catch(async (error) => {
      // If the store was removed meanwhile, report that; else rethrow.
      checkFound(await this.inspect(place), known);
      throw error;
    });
    try {
      return { store, identity: await takeIdentity(this.#database, known, purpose), missingSince: null };
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async atRest(stores: readonly KnownStore[], version: number, wanted: readonly PendingRows[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const look = async (session: Session, known: KnownStore) => {
      const { rows } = await session.query(pendingRowsStatement(postgresDialect(schemaName(known.place)), wanted));
      if (isAtRest(rows[0], known, version, wanted)) found.add(known.systemId);
    };
    // A session keeps some 200 KB for the tables of each system that it has seen, so these looks have a connection that ends with them.
    const lookAtAll = (session: Session) => Promise.allSettled(stores.map((known) => look(session, known)));
    await this.#database.dedicated(lookAtAll).catch(() => {});
    return found;
  }

  load(): EngineLoad {
    const { shared, exclusive, busy, idle } = this.#database.load();
    return { reads: { shared, exclusive }, connections: { busy, idle } };
  }

  sizes(places: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return readSizes(this.#database, places);
  }

  inspect(place: string): Promise<Found> {
    return inspectSchema(this.#database, schemaName(place));
  }

  async stored(except: ReadonlySet<string> = new Set()): Promise<readonly StoredPlace[]> {
    const known = new Set(Array.from(except, (name) => placeOf(schemaName(name))));
    return (await storedSchemas(this.#database)).filter(({ place }) => !known.has(place));
  }

  async unfinished(making: string, except: ReadonlySet<string>): Promise<readonly string[]> {
    const names: string[] = [];
    for (const { name } of await this.stored(except))
      if (name !== null && (await this.inspect(name)).identity?.making === making) names.push(name);
    return names;
  }

  async identify(identity: StoreIdentity, name = identity.appId): Promise<void> {
    const { state, place } = await this.inspect(name);
    if (state !== 'store') throw new StoreRefused(state, place);
    // Migrate the catalogue, since earlier versions have no table for the identity.
    await openCatalog(this.#database, schemaName(name));
    await this.#database.atomically([insertIdentity(schemaName(name), identity)], schemaName(name));
  }

  /** Nothing to check: the engine keeps no checksums or structure beyond PostgreSQL's own. */
  levels(place: string): Promise<{ pending: number; system: Level }> {
    return levelsOf(this.#database, place);
  }

  async verify(): Promise<null> {
    return null;
  }

  #open(appId: string, place: string, grown?: GenerationGrown): Promise<Store> {
    return PostgresStore.open({
      database: this.#database,
      schemaName: schemaName(place),
      appId,
      place,
      ...(grown ? { grown } : {}),
      conditions: this.#settings.conditions,
      observations: this.#settings.observations,
      invalidations: this.#invalidations,
      cluster: this.cluster,
      report: this.#settings.report,
      addresses: () => this.#settings.addressesOf(appId),
    });
  }

  async remove(place: string, owner: Removable): Promise<void> {
    if (checkRemovable(await this.inspect(place), owner)) await dropSchema(this.#database, schemaName(place));
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.#database.close();
  }
}
