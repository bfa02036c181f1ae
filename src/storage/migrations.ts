import { OperatorError } from '../kernel/operator-error.ts';

/** A migration of the tables that an engine keeps for itself. Released migrations never change; new ones are appended. */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number;
  /** A short description, for a person who looks into the database. */
  readonly what: string;
}

/**
 * Returns the migrations that a database has not yet run.
 * @param reached the number of the last one it ran; 0 if none
 * @param place what is opened, as an operator knows it
 * @throws OperatorError if it was used by a later version of the service
 */
export function pendingMigrations<T extends Migration>(migrations: readonly T[], reached: number, place: string): readonly T[] {
  const newest = migrations.at(-1)?.number ?? 0;
  if (reached <= newest) return migrations.filter(({ number }) => number > reached);
  throw new OperatorError(
    `${place} was written by a later version of the service (migration ${reached}, this one knows ${newest}): start that version`,
  );
}
