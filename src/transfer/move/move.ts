import { ServiceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { changesTo, isSameSchema } from '../../schema/replay.ts';
import type { Engine, Store } from '../../storage/port.ts';
import type { Registry, SystemEntry } from '../../storage/registry.ts';
import { checksumOf } from './checksum.ts';
import { copyPart, type Part, partIn, partsOf } from './copy.ts';

/** Tables that one commit makes: on PostgreSQL each takes some twenty locks, of some thousands that there are. */
const TABLES = 20;

/** One side of a move: all systems of an installation. */
export interface Side {
  readonly registry: Registry;
  readonly engine: Engine;
}

/** What is told in the course of a move. */
export interface MoveEvents {
  /** So many records of a table are in the target. */
  copied(system: string, className: string, records: number): void;
  /** A table is compared. */
  comparing(system: string, className: string): void;
  /** All of a system is in the target and was compared. */
  moved(system: string, records: number): void;
  /** It was there already, from an earlier move, and is the same. */
  skipped(system: string): void;
  /** What an earlier move copied of it is no longer the same, and was removed: it is copied from the beginning. */
  restarted(system: string): void;
}

/** How much was moved. */
export interface MoveResult {
  readonly systems: number;
  readonly records: number;
}

/**
 * Copies every system, with its keys, to another kind of store, to the byte, and compares counts and checksums before a system comes into
 * force there. The source stays as it is. A move that was cut off goes on where it was when it is started again.
 * @throws OperatorError where the source is empty, the target belongs to another installation, or what is there is not the same
 */
export async function moveAll(from: Side, to: Side, events: MoveEvents): Promise<MoveResult> {
  const { systems } = from.registry.read();
  if (systems.length === 0) throw new OperatorError('there is nothing to move: the source holds no systems');
  const isFirst = to.registry.salt !== from.registry.salt;
  if (isFirst && !(await to.registry.takeSalt(from.registry.salt)))
    throw new OperatorError('the target holds systems of another installation; move into an empty one');
  let moved = 0;
  let records = 0;
  for (const system of systems) {
    const { appId } = system;
    if (to.registry.read().systems.some((there) => there.appId.toLowerCase() === appId.toLowerCase())) {
      await checkMoved(from, to, system, events);
      events.skipped(appId);
      continue;
    }
    // What lies there is of another installation that was moved there in part.
    if (isFirst) await to.engine.remove(appId);
    const count = await moveSystem(from, to, system, events);
    moved++;
    records += count;
    events.moved(appId, count);
  }
  return { systems: moved, records };
}

/** Compares a system that is in force in the target. @throws OperatorError where it is not the same */
async function checkMoved(from: Side, to: Side, { appId }: SystemEntry, events: MoveEvents): Promise<void> {
  const isSameEntry = JSON.stringify(entryOf(from.registry, appId)) === JSON.stringify(entryOf(to.registry, appId));
  const unlike = isSameEntry ? await firstUnlike(from.engine, to.engine, appId, events) : 'its name or its keys are not the same';
  if (unlike === null) return;
  throw new OperatorError(
    `${appId} is in the target already, and ${unlike}. Where the source is the right one, remove it from the target and move again`,
  );
}

function entryOf(registry: Registry, appId: string): unknown {
  const { systems, keys } = registry.read();
  return [systems.find((system) => system.appId === appId), keys.filter((key) => key.appId === appId)];
}

async function moveSystem(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<number> {
  const { appId } = system;
  for (;;) {
    const { isNew, records, failure } = await copySystem(from.engine, to.engine, appId, events);
    if (failure && (isNew || failure instanceof OperatorError || failure instanceof ServiceError)) throw failure;
    const unlike = failure ? 'it cannot be continued' : await firstUnlike(from.engine, to.engine, appId, events);
    if (unlike === null) {
      const keys = from.registry.read().keys.filter((key) => key.appId === appId);
      if (await to.registry.addSystem(system, keys, async () => {})) return records;
      throw new OperatorError(`the target has a system ${appId}`);
    }
    await to.engine.remove(appId);
    if (isNew)
      throw new OperatorError(
        `${appId}: ${unlike}; what was copied of it was removed. Move again while nothing writes to the source`,
      );
    // The source was written to since an earlier move.
    events.restarted(appId);
  }
}

/** What came of the copying of a system. */
interface Copied {
  /** Whether nothing of it was there before. */
  readonly isNew: boolean;
  /** Those that are in the target now. */
  readonly records: number;
  readonly failure?: unknown;
}

/** Copies what the target does not have yet. */
async function copySystem(from: Engine, to: Engine, appId: string, events: MoveEvents): Promise<Copied> {
  const source = await from.open(appId);
  try {
    const { target, isNew } = await openTarget(to, appId, source);
    let records = 0;
    try {
      for (const part of partsOf(source)) records += await copy(source, target, part, appId, events);
      return { isNew, records };
    } catch (failure) {
      return { isNew, records, failure };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** The target with the source's schema: as an earlier move has left it, or made anew where that had another. */
async function openTarget(engine: Engine, appId: string, source: Store): Promise<{ target: Store; isNew: boolean }> {
  const found = await engine.open(appId);
  if (isSameSchema(found.schema(), source.schema())) return { target: found, isNew: false };
  await found.close();
  await engine.remove(appId);
  const target = await engine.open(appId);
  // Where this is cut off, the schema is not the same, and made anew.
  for (const changes of slicesOf(changesTo(source.schema()), TABLES))
    await target.write({ plan: () => ({ changes, mutations: [] }) }).catch((error) => {
      throw isRefusal(error) ? new OperatorError(`${appId}: ${refusedTables(changes)}: ${error.message}`) : error;
    });
  return { target, isNew: true };
}

const isRefusal = (error: unknown): error is ServiceError => error instanceof ServiceError && error.key !== 'unavailable';

function refusedTables(changes: readonly SchemaChange[]): string {
  const names = changes.flatMap((change) => (change.kind === 'createTable' ? [change.className] : []));
  return `the target cannot take one of the tables ${names.join(', ')}`;
}

/** Changes in slices of so many tables. */
function slicesOf(changes: readonly SchemaChange[], tables: number): SchemaChange[][] {
  const slices: SchemaChange[][] = [[]];
  let made = 0;
  for (const change of changes) {
    if (change.kind === 'createTable' && made++ % tables === 0 && made > 1) slices.push([]);
    slices.at(-1)?.push(change);
  }
  return slices;
}

/** @returns the records of the part that are in the target */
async function copy(source: Store, target: Store, part: Part, appId: string, events: MoveEvents): Promise<number> {
  let records = 0;
  await copyPart(source, target, part, (rows) => {
    records += rows;
    events.copied(appId, part.table.className, records);
  });
  return records;
}

/** What tells of the first part of a system that is not the same in both; `null` where all are. */
async function firstUnlike(from: Engine, to: Engine, appId: string, events: MoveEvents): Promise<string | null> {
  const stores: Store[] = [];
  try {
    for (const engine of [from, to]) stores.push(await engine.open(appId));
    const [source, target] = stores as [Store, Store];
    if (!isSameSchema(source.schema(), target.schema())) return 'its tables or fields are not the same';
    for (const part of partsOf(source)) {
      events.comparing(appId, part.table.className);
      const [own, copied] = await Promise.all([checksumOf(source, part), checksumOf(target, partIn(target, part))]);
      if (own.count === copied.count && own.hash === copied.hash) continue;
      const name = part.kind === 'table' ? part.table.className : `${part.table.className}.${part.field.name}`;
      return `${name} is not the same in both (${own.count} rows, and ${copied.count})`;
    }
    return null;
  } finally {
    for (const store of stores) await store.close();
  }
}
