import { setTimeout as wait } from 'node:timers/promises';
import { type ActRegistry, deliverActs } from '../../acts/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Engine, GenerationGrown, Purpose } from '../../storage/engine.ts';
import { type KnownStore, type StoreIdentity, type StoreNote, StoreRefused } from '../../storage/identity.ts';
import { type Level, levelAfter, pendingMigrations, storedLevel } from '../../storage/migrations.ts';
import type { Store } from '../../storage/port.ts';
import type { Registry } from '../../storage/registry.ts';
import { users } from './001-users.ts';
import { files } from './002-files.ts';
import { phones } from './003-phones.ts';
import { automation } from './004-automation.ts';
import { signIn } from './005-sign-in.ts';
import { authors } from './006-authors.ts';
import { copies } from './007-copies.ts';
import { deletions } from './008-deletions.ts';
import { textIndexes } from './009-text-indexes.ts';
import { views } from './010-views.ts';
import { imports } from './011-imports.ts';
import { idempotencyKeys } from './012-idempotency-keys.ts';
import { adminLogTable } from './013-admin-log.ts';
import { nothing, type SystemMigration } from './migration.ts';

/** In order. Released migrations are never changed; new ones are added at the end. They use the present template. */
const migrations: readonly SystemMigration[] = [
  users,
  files,
  phones,
  automation,
  signIn,
  authors,
  copies,
  deletions,
  textIndexes,
  views,
  imports,
  idempotencyKeys,
  adminLogTable,
];

const newest = migrations.reduce<Level>(levelAfter, storedLevel(0, null));

/** The version of a system created now (`Schema.templateVersion`). */
export const newestVersion: number = newest.reached;

/** The change that gives a system created now its version. */
export const setNewestVersion: SchemaChange = {
  kind: 'setTemplateVersion',
  version: newest.reached,
  required: newest.required,
};

/** Returns how many migrations of a system are pending. @throws OperatorError if a later version of the service has changed it */
export const pendingOfSystem = (level: Level, appId: string): number =>
  pendingMigrations(migrations, level, `the system ${appId}`).length;

/**
 * Opens a system's store: checks that it is the one in the registry, records changes of its identity, and runs pending migrations before it is
 * used. Reference: faults.md#missing-and-foreign-stores.
 * @param missing called with the time since which writes may be missing, if any are
 * @throws StoreRefused if it is another store or none; OperatorError for a store of a later version of the service, or no such system
 */
export async function openStore(
  engine: Pick<Engine, 'open'>,
  registry: StoreRegistry,
  appId: string,
  purpose: Purpose = 'work',
  missing: (since: number) => void = () => {},
): Promise<Store> {
  const known = await registry.storeOf(appId);
  if (!known) throw new OperatorError(`there is no system ${appId}`);
  const { store, identity, missingSince } = await openKnown(engine, registry, known, purpose, (generation) =>
    registry.recordStore(known.systemId, { generation }),
  );
  try {
    if (missingSince !== null) missing(missingSince);
    const note = noteOf(known, identity, missingSince);
    if (note) await saveNote(registry, known.systemId, note);
    await migrate(store, `the system ${appId}`);
    // The acts stay in the registry, for the next opening, if they cannot be written now.
    await deliverActs(registry, known.systemId, store).catch(() => {});
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Opens a system, which writes the acts that the registry has committed for it. One that cannot be opened now gets them at its next opening. */
export async function deliverTo(registry: StoreRegistry, engine: Pick<Engine, 'open'>, appId: string): Promise<void> {
  try {
    await (await openStore(engine, registry, appId)).close();
  } catch {
    // The acts stay in the registry.
  }
}

/** The part of a registry that opening a store needs. */
export type StoreRegistry = Pick<Registry, 'storeOf' | 'recordStore'> & ActRegistry;

async function openKnown(
  engine: Pick<Engine, 'open'>,
  registry: StoreRegistry,
  known: KnownStore,
  purpose: Purpose,
  grown: GenerationGrown,
) {
  try {
    return await engine.open(known, purpose, grown);
  } catch (error) {
    const isNew = error instanceof StoreRefused && error.why === 'damaged' && known.damagedAt === null;
    if (isNew) await saveNote(registry, known.systemId, { damagedAt: Date.now() });
    throw error;
  }
}

function noteOf(known: KnownStore, { birth, generation }: StoreIdentity, missingSince: number | null): StoreNote | null {
  const note: StoreNote = {
    ...(known.birth === null && { birth }),
    ...(generation > known.generation && { generation }),
    ...(missingSince !== null && { missingSince, noticedAt: Date.now() }),
    ...(known.damagedAt !== null && { damagedAt: null }),
  };
  return Object.keys(note).length === 0 ? null : note;
}

/** The store itself is durable, so a lost note is repeated by the next open. A note about missing writes is not, so it is retried for longer. */
async function saveNote(registry: StoreRegistry, systemId: string, note: StoreNote): Promise<void> {
  const again = async (tries: number): Promise<void> => {
    try {
      await registry.recordStore(systemId, note);
    } catch {
      // A system is being created, which takes time, or the registry cannot be written now.
      if (tries > 0) void wait(NOTE_RETRY_DELAY_MS, undefined, { ref: false }).then(() => again(tries - 1));
    }
  };
  await again(MAX_NOTE_ATTEMPTS);
}

const NOTE_RETRY_DELAY_MS = 500;
const MAX_NOTE_ATTEMPTS = 120;

/**
 * Runs the pending migrations of a system. Each ends with an ordinary write that also sets its number; if another process was faster, it does
 * nothing. Reference: migration.md#upgrades-of-stored-systems.
 * @param place the store, for messages to the operator
 */
export async function migrate(store: Store, place: string): Promise<void> {
  const { templateVersion = 0, requiredVersion = templateVersion } = store.schema();
  const level = storedLevel(requiredVersion, templateVersion);
  for (const { number, prepare, compatibleFrom: required = number } of pendingMigrations(migrations, level, place)) {
    const plan = await prepare(store);
    await store.write({
      plan(schema) {
        if ((schema.templateVersion ?? 0) >= number) return nothing;
        const { changes, mutations } = plan(schema);
        return { changes: [...changes, { kind: 'setTemplateVersion', version: number, required }], mutations };
      },
    });
  }
}
