import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { sessionName } from '../connection/connect.ts';
import type { Database } from '../connection/database.ts';

/** What the sessions of commands begin with that have the database to themselves. */
const exclusiveName = `${sessionName} alone`;

/** A name for the sessions of a command that has the database to itself, by which it knows them. */
export function newExclusiveName(): string {
  return `${exclusiveName} ${randomUUID().slice(0, 8)}`;
}

/** How often sessions are looked at, a tenth of a second apart: those of a process that has just ended take a moment. */
const MAX_LOOKS = 10;

/**
 * Lets a process go on where the others that use the same database suit it: a command that has the database to itself with none, all
 * others where there is no such command. Two that begin at the same moment see each other. pg_stat_activity shows every user the names
 * of all sessions.
 * @param name of the sessions of this process, where it has the database to itself
 * @throws OperatorError
 */
export async function requireExclusiveAccess(database: Database, name: string | undefined): Promise<void> {
  const text = `SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $1) AND application_name <> $2`;
  const params = name === undefined ? [exclusiveName, ''] : [sessionName, name];
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (look > 0) await wait(100);
    const [row] = await database.short({ text, params });
    if (row?.[0] === 0) return;
  }
  throw new OperatorError(name === undefined ? busy : inUse);
}

const busy = 'DATABASE_URL: a move of this database is under way; start again when it has ended.';
const inUse =
  'DATABASE_URL: services or commands use this database; stop them first. A pooler may keep their sessions for some minutes.';
