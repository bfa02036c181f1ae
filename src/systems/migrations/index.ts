import { pendingMigrations } from '../../storage/migrations.ts';
import type { Engine, Store } from '../../storage/port.ts';
import { users } from './001-users.ts';
import { files } from './002-files.ts';
import { phones } from './003-phones.ts';
import { automation } from './004-automation.ts';
import { signIn } from './005-sign-in.ts';
import { authors } from './006-authors.ts';
import { copies } from './007-copies.ts';
import { deletions } from './008-deletions.ts';
import { nothing, type SystemMigration } from './migration.ts';

/** In order. What was released stays as it is; the next one is added at the end. They take the template as it is now. */
const migrations: readonly SystemMigration[] = [users, files, phones, automation, signIn, authors, copies, deletions];

/** What a system that is made now has (`Schema.templateVersion`). */
export const newestVersion: number = migrations.at(-1)?.number ?? 0;

/**
 * Opens a system's store and brings it to where this version of the service has it, before anybody works with it.
 * @throws OperatorError for a store of a later version of the service
 */
export async function openStore(engine: Engine, appId: string): Promise<Store> {
  const store = await engine.open(appId);
  try {
    await migrate(store, `the system ${appId}`);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Takes a system through the migrations that it has still to go through, each in the end an ordinary write that sets the number with it:
 * where another process was quicker, it does nothing.
 * @param place what is migrated, for the operator
 */
export async function migrate(store: Store, place: string): Promise<void> {
  for (const { number, prepare } of pendingMigrations(migrations, store.schema().templateVersion ?? 0, place)) {
    const plan = await prepare(store);
    await store.write({
      plan(schema) {
        if ((schema.templateVersion ?? 0) >= number) return nothing;
        const { changes, mutations } = plan(schema);
        return { changes: [...changes, { kind: 'setTemplateVersion', version: number }], mutations };
      },
    });
  }
}
