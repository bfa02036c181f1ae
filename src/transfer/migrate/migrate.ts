import { deliverActs } from '../../acts/index.ts';
import { isRefusal, ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { changesTo, isSameSchema } from '../../schema/replay.ts';
import type { Engine } from '../../storage/engine.ts';
import { knownOf, makerMark, newIdentity, type StoreIdentity } from '../../storage/identity.ts';
import type { Store } from '../../storage/port.ts';
import type { MovedMark, Registry, RemovedSystem, SystemEntry } from '../../storage/registry.ts';
import { checksumOf } from './checksum.ts';
import { copyPart, type Part, partIn, partsOf } from './copy.ts';
import { schemaBatches } from './schema-batches.ts';

/** Source or target of a move: all systems of an installation. */
export interface Side {
  readonly kind: MovedMark['to'];
  readonly registry: Registry;
  readonly engine: Engine;
}

/** Progress events of a move. */
export interface MoveEvents {
  /** A table is being copied. @param done records of the system in the target @param share of all its records, from 0 to 1 */
  copying(system: string, className: string, done: number, share: number): void;
  /** A table is being compared. @param done records of the system compared so far */
  comparing(system: string, className: string, done: number, share: number): void;
  /** A system has been copied and compared. */
  moved(system: string, records: number): void;
  /** A system was present from an earlier move and is identical. */
  skipped(system: string): void;
  /** The part of a system that an earlier move copied is outdated and was deleted; copying restarts. */
  restarted(system: string): void;
}

/** Totals of a move. */
export interface MoveResult {
  readonly systems: number;
  readonly records: number;
}

/**
 * Copies every system with its keys to another engine, byte for byte, including removed systems that can still be restored. Counts and checksums are
 * compared before a system comes into force in the target. The source is unchanged except for a mark that its systems were moved. An interrupted move
 * continues when it is started again. Reference: migration.md#move-between-engines.
 * @throws OperatorError if the source is empty or was moved elsewhere, the target belongs to another installation, or a system in the target differs
 */
export async function moveAll(from: Side, to: Side, events: MoveEvents): Promise<MoveResult> {
  const systems = entriesOf(from.registry);
  if (systems.length === 0) throw new OperatorError('there is nothing to move: the source holds no systems');
  const isFirst = to.registry.salt !== from.registry.salt;
  const there = new Set(isFirst ? [] : entriesOf(to.registry).map(({ appId }) => appId.toLowerCase()));
  // If the source was moved, the valid copy is elsewhere; comparing it with that copy is still allowed.
  if (!systems.every(({ appId }) => there.has(appId.toLowerCase()))) refuseMoved(from.registry);
  if (isFirst) await clearLeft(to, systems);
  if (isFirst && !(await to.registry.takeSalt(from.registry.salt)))
    throw new OperatorError('the target holds systems of another installation; move into an empty one');
  let moved = 0;
  let records = 0;
  for (const system of systems) {
    const { appId } = system;
    if (there.has(appId.toLowerCase())) {
      await checkMoved(from, to, system, events);
      events.skipped(appId);
      continue;
    }
    const count = await moveSystem(from, to, system, events);
    moved++;
    records += count;
    events.moved(appId, count);
  }
  await to.registry.markMoved(null);
  await from.registry.markMoved({ to: to.kind, at: Date.now() });
  return { systems: moved, records };
}

/** Deletes what an interrupted move of another installation left at the same places. */
async function clearLeft({ registry, engine }: Side, systems: readonly SystemEntry[]): Promise<void> {
  const making = makerMark(registry.salt);
  for (const { place } of systems)
    if ((await engine.inspect(place)).identity?.making === making) await engine.remove(place, { making });
}

/** Returns all systems that can be served or restored. */
function entriesOf(registry: Registry): (SystemEntry | RemovedSystem)[] {
  const { systems, removed } = registry.read();
  const now = Date.now();
  return [...systems, ...removed.filter(({ deleteAfter }) => deleteAfter > now)];
}

/** Compares a system that is in force in the target. @throws OperatorError if it differs */
async function checkMoved(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<void> {
  const { appId } = system;
  const isSameEntry = JSON.stringify(entryOf(from.registry, appId)) === JSON.stringify(entryOf(to.registry, appId));
  const difference = isSameEntry ? await firstDifference(from, to, system, events) : 'its name or its keys are not the same';
  if (difference === null) return;
  throw new OperatorError(
    `${appId} is in the target already, and ${difference}. Where the source is the right one, remove it from the target and move again`,
  );
}

function entryOf(registry: Registry, appId: string): unknown {
  const keys = registry.read().keys.filter((key) => key.appId === appId);
  return [entriesOf(registry).find((system) => system.appId === appId), keys];
}

async function moveSystem(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<number> {
  const { appId, place } = system;
  for (;;) {
    const { isNew, records, identity, failure } = await copySystem(from, to, system, events);
    if (failure && (isNew || failure instanceof OperatorError || failure instanceof ServiceError)) throw failure;
    const difference = failure ? 'it cannot be continued' : await firstDifference(from, to, system, events);
    if (difference === null) {
      const keys = from.registry.read().keys.filter((key) => key.appId === appId);
      if (await to.registry.addSystem(system, keys, async () => identity)) {
        // It is in force from here on, and must not be recreated.
        await (await openSide(to, system)).close();
        await to.registry.recordKeyUses(await from.registry.lastUses(appId));
        return records;
      }
      throw new OperatorError(`the target has a system ${appId}`);
    }
    await to.engine.remove(place, { making: makerMark(to.registry.salt) });
    if (isNew)
      throw new OperatorError(
        `${appId}: ${difference}; what was copied of it was removed. Move again while nothing writes to the source`,
      );
    // The source was changed after an earlier move.
    events.restarted(appId);
  }
}

/** Result of copying a system. */
interface Copied {
  /** Whether nothing of it was present before. */
  readonly isNew: boolean;
  /** Number of records in the target. */
  readonly records: number;
  /** Identity of the target store. */
  readonly identity: StoreIdentity;
  readonly failure?: unknown;
}

/** Copies what the target does not have yet. */
async function copySystem(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<Copied> {
  const { appId } = system;
  const source = await openSide(from, system);
  try {
    // The target's registry does not get what is still to be written in the log.
    await deliverActs(from.registry, system.id, source);
    const { target, isNew, identity } = await openTarget(to, system, source);
    let records = 0;
    try {
      const parts = partsOf(source.schema());
      const total = await countOf(source, parts);
      for (const part of parts)
        await copyPart(source, target, part, (rows) => {
          records += rows;
          events.copying(appId, part.table.className, records, records / total);
        });
      return { isNew, records, identity };
    } catch (failure) {
      return { isNew, records, identity, failure };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Opens the target with the source's schema: left by an earlier move, or recreated if the schema differs. */
async function openTarget(
  { engine, registry }: Side,
  system: SystemEntry | RemovedSystem,
  source: Store,
): Promise<{ target: Store; isNew: boolean; identity: StoreIdentity }> {
  const { id, appId, place } = system;
  const left = (await engine.inspect(place)).identity;
  if (left && left.making === makerMark(registry.salt) && left.systemId === id) {
    const { store } = await engine.open(knownOf(left, place), 'making');
    if (isSameSchema(store.schema(), source.schema())) return { target: store, isNew: false, identity: left };
    await store.close();
  }
  const own = 'formerAppId' in system ? system.formerAppId : null;
  const identity = newIdentity(id, own ?? appId, registry.salt);
  const target = await engine.create(identity, place);
  // If this is interrupted, the schema differs and the target is recreated.
  for (const changes of schemaBatches(changesTo(source.schema())))
    await target.write({ plan: () => ({ changes, mutations: [] }) }).catch((error) => {
      throw isRefusal(error) ? new OperatorError(`${appId}: ${refusedTables(changes)}: ${error.message}`) : error;
    });
  return { target, isNew: true, identity };
}

/** Opens a system of one side: in force, or still being created. */
async function openSide({ engine, registry }: Side, { appId, place }: SystemEntry): Promise<Store> {
  const known = await registry.storeOf(appId);
  if (known) return (await engine.open(known, 'work')).store;
  const found = await engine.inspect(place);
  if (!found.identity) throw new OperatorError(`${found.place} is missing`);
  return (await engine.open(knownOf(found.identity, place), 'making')).store;
}

function refusedTables(changes: readonly SchemaChange[]): string {
  const names = changes.flatMap((change) => (change.kind === 'createTable' ? [change.className] : []));
  return `the target cannot take one of the tables ${names.join(', ')}`;
}

/** Returns the number of records, at least 1 so that shares can be computed. */
async function countOf(store: Store, parts: readonly Part[]): Promise<number> {
  let count = 0;
  for (const part of parts) if (part.kind === 'table') count += await store.raw.count(part.table);
  return Math.max(1, count);
}

/** Describes the first part that differs between both sides; `null` if they are identical. */
async function firstDifference(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<string | null> {
  const { appId } = system;
  const stores: Store[] = [];
  try {
    for (const side of [from, to]) stores.push(await openSide(side, system));
    const [source, target] = stores as [Store, Store];
    if (!isSameSchema(source.schema(), target.schema())) return 'its tables or fields are not the same';
    const parts = partsOf(source.schema());
    const total = await countOf(source, parts);
    let compared = 0;
    for (const part of parts) {
      events.comparing(appId, part.table.className, compared, compared / total);
      const [own, copied] = await Promise.all([checksumOf(source.raw, part), checksumOf(target.raw, partIn(target, part))]);
      if (part.kind === 'table') compared += own.count;
      if (own.count === copied.count && own.hash === copied.hash) continue;
      const name = part.kind === 'table' ? part.table.className : `${part.table.className}.${part.field.name}`;
      return `${name} is not the same in both (${own.count} rows, and ${copied.count})`;
    }
    return null;
  } finally {
    for (const store of stores) await store.close();
  }
}

const places = { postgres: 'PostgreSQL', embedded: 'the embedded store' } as const;
const settings = { postgres: 'set DATABASE_URL', embedded: 'unset DATABASE_URL' } as const;

/** Refuses to use systems that were moved: what is here is an outdated copy. @throws OperatorError */
export function refuseMoved(registry: Registry): void {
  const mark = registry.moved();
  if (!mark) return;
  const at = isoText(mark.at).slice(0, 10);
  throw new OperatorError(
    `these systems were moved to ${places[mark.to]} on ${at}; ${settings[mark.to]}, or run record-service move --undo-mark`,
  );
}
