import { OperatorError } from '../kernel/operator-error.ts';
import type { Schema } from '../schema/model.ts';

/**
 * A migration of the tables that an engine keeps for itself, or of a system. Released migrations never change; new ones are appended.
 * Reference: migration.md#versions-side-by-side.
 */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number;
  /** A short description, for a person who looks into the database. */
  readonly what: string;
  /**
   * Number of the migration that a process must know at least to go on with a store after this one. An additive migration names an earlier one.
   * Left out: this one, so that processes of earlier versions refuse the store.
   */
  readonly compatibleFrom?: number;
}

/** Whose migrations a level counts: those of an engine's own tables (catalogue, registry), or those of a system (systems/migrations). */
export type Scope = 'engine' | 'system';

/** How far a store is migrated. */
export interface Level {
  /** Number of the last migration that has run; 0: none. */
  readonly reached: number;
  /** Number of the migration that a process must know at least to use the store. */
  readonly required: number;
}

/** Returns the level after a migration. */
export function levelAfter({ reached, required }: Level, { number, compatibleFrom = number }: Migration): Level {
  return { reached: Math.max(reached, number), required: Math.max(required, compatibleFrom) };
}

/**
 * Returns a level as it is stored. The required number is where versions before levels kept the number of their last migration, so these refuse a
 * store that they cannot use, and no other.
 * @param required 0: none has run
 * @param reached null: the same
 */
export function storedLevel(required: number, reached: number | null): Level {
  return { required, reached: Math.max(required, reached ?? 0) };
}

/** Returns the versions of a system's schema. */
export function versionsOf({ reached, required }: Level): Pick<Schema, 'templateVersion' | 'requiredVersion'> {
  return { templateVersion: reached, ...(required < reached && { requiredVersion: required }) };
}

/**
 * Returns the migrations that a database has not yet run.
 * @param place what is opened, as an operator knows it
 * @throws OperatorError if a later version of the service has changed it so that this one cannot use it
 */
export function pendingMigrations<T extends Migration>(
  migrations: readonly T[],
  { reached, required }: Level,
  place: string,
): readonly T[] {
  const newest = migrations.at(-1)?.number ?? 0;
  if (required <= newest) return migrations.filter(({ number }) => number > reached);
  throw new OperatorError(
    `${place} was written by a later version of the service (migration ${required}, this one knows ${newest}): start that version`,
  );
}
