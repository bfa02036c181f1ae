import { OperatorError } from '../../kernel/operator-error.ts';
import { changesTo, isSameSchema } from '../../schema/replay.ts';
import type { Engine, Store } from '../../storage/port.ts';
import type { Registry, SystemEntry } from '../../storage/registry.ts';
import { checksumOf } from './checksum.ts';
import { copyPart, type Part, partIn, partsOf } from './copy.ts';

/** One side of a move: all systems of an installation. */
export interface Side {
  readonly registry: Registry;
  readonly engine: Engine;
}

/** What is told in the course of a move. */
export interface MoveEvents {
  /** So many records of a table are in the target. */
  copied(system: string, className: string, records: number): void;
  /** All of a system is in the target and was compared. */
  moved(system: string, records: number): void;
  /** It was there already, from an earlier move. */
  skipped(system: string): void;
}

/** How much was moved. */
export interface MoveResult {
  readonly systems: number;
  readonly records: number;
}

/**
 * Copies every system, with its keys, to another kind of store, to the byte, and compares counts and checksums before a system comes into
 * force there. The source stays as it is. A move that was cut off goes on where it was when it is started again.
 * @throws OperatorError where the target belongs to another installation, or where what was copied is not the same
 */
export async function moveAll(from: Side, to: Side, events: MoveEvents): Promise<MoveResult> {
  if (to.registry.salt !== from.registry.salt && !(await to.registry.takeSalt(from.registry.salt)))
    throw new OperatorError('the target holds systems of another installation; move into an empty one');
  const { systems } = from.registry.read();
  let moved = 0;
  let records = 0;
  for (const system of systems) {
    const there = to.registry.read().systems.find(({ appId }) => appId.toLowerCase() === system.appId.toLowerCase());
    if (there && there.id !== system.id) throw new OperatorError(`the target has another system ${system.appId}`);
    if (there) {
      events.skipped(system.appId);
      continue;
    }
    const count = await moveSystem(from, to, system, events);
    moved++;
    records += count;
    events.moved(system.appId, count);
  }
  return { systems: moved, records };
}

async function moveSystem(from: Side, to: Side, system: SystemEntry, events: MoveEvents): Promise<number> {
  const { appId } = system;
  const source = await from.engine.open(appId);
  try {
    const target = await openTarget(to.engine, appId, source);
    let records = 0;
    let unlike: string | null;
    try {
      for (const part of partsOf(source)) records += await copy(source, target, part, appId, events);
      unlike = await firstUnlike(source, target);
    } finally {
      await target.close();
    }
    if (unlike !== null) {
      await to.engine.remove(appId);
      throw new OperatorError(
        `${appId}: ${unlike}; what was copied of it was removed. Move again while nothing writes to the source`,
      );
    }
    const keys = from.registry.read().keys.filter((key) => key.appId === appId);
    if (!(await to.registry.addSystem(system, keys, async () => {}))) throw new OperatorError(`the target has a system ${appId}`);
    return records;
  } finally {
    await source.close();
  }
}

/** The target with the source's schema: as an earlier move has left it, or made anew where that had another. */
async function openTarget(engine: Engine, appId: string, source: Store): Promise<Store> {
  let target = await engine.open(appId);
  if (target.schema().tables.size > 0 && !isSameSchema(target.schema(), source.schema())) {
    await target.close();
    await engine.remove(appId);
    target = await engine.open(appId);
  }
  if (target.schema().tables.size === 0) {
    const changes = changesTo(source.schema());
    await target.write({ plan: () => ({ changes, mutations: [] }) });
  }
  return target;
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

/** What tells of the first part whose copy is not the same; `null` where all are. */
async function firstUnlike(source: Store, target: Store): Promise<string | null> {
  for (const part of partsOf(source)) {
    const [own, copied] = await Promise.all([checksumOf(source, part), checksumOf(target, partIn(target, part))]);
    if (own.count === copied.count && own.hash === copied.hash) continue;
    const name = part.kind === 'table' ? part.table.className : `${part.table.className}.${part.field.name}`;
    return `${name} is not the same in the target (${own.count} rows, and ${copied.count})`;
  }
  return null;
}
