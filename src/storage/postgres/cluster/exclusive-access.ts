import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { sessionName } from '../connection/connect.ts';
import type { Database } from '../connection/database.ts';

/** Prefix of `application_name` for sessions of commands that need the database exclusively. */
const exclusiveName = `${sessionName} alone`;

/** Returns a new `application_name` for a command that needs the database exclusively. It is unique, so the command can exclude its own sessions. */
export function newExclusiveName(): string {
  return `${exclusiveName} ${randomUUID().slice(0, 8)}`;
}

/** Polls of the session list, 100 ms apart: sessions of a process that has just ended take a moment to disappear. */
const MAX_POLLS = 10;

/**
 * Refuses to continue while incompatible processes use the same database: a command with exclusive access tolerates no other process, all other
 * processes tolerate no such command. Two that start at the same moment see each other, so both may be refused. pg_stat_activity shows the names of
 * all sessions to every user.
 * @param name `application_name` of this process's sessions if it needs exclusive access
 * @throws OperatorError
 */
export async function requireExclusiveAccess(database: Database, name: string | undefined): Promise<void> {
  const text = `SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $1) AND application_name <> $2`;
  const params = name === undefined ? [exclusiveName, ''] : [sessionName, name];
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    if (poll > 0) await wait(100);
    const [row] = await database.short({ text, params });
    if (row?.[0] === 0) return;
  }
  throw new OperatorError(name === undefined ? busy : inUse);
}

const busy = 'DATABASE_URL: a move of this database is under way; start again when it has ended.';
const inUse =
  'DATABASE_URL: services or commands use this database; stop them first. A pooler may keep their sessions for some minutes.';
