import { OperatorError } from '../kernel/operator-error.ts';

/** A step of the tables that an engine keeps for itself. What was released stays as it is; the next one comes after it. */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number;
  /** In a few words, for a person who looks into the database. */
  readonly what: string;
}

/**
 * The migrations that a database has still to go through.
 * @param reached the number of the last one it went through; 0 where there was none
 * @param place what is opened, as an operator knows it
 * @throws OperatorError where it was used by a later version of the service
 */
export function pendingMigrations<T extends Migration>(migrations: readonly T[], reached: number, place: string): readonly T[] {
  const newest = migrations.at(-1)?.number ?? 0;
  if (reached <= newest) return migrations.filter(({ number }) => number > reached);
  throw new OperatorError(
    `${place} was written by a later version of the service (migration ${reached}, this one knows ${newest}): start that version`,
  );
}
