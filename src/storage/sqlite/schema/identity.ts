import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Purpose } from '../../engine.ts';
import { checkFound, type Found, type KnownStore, knownOf, newBirth, type StoreIdentity, StoreRefused } from '../../identity.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { existingFile, fileAlone } from '../connection/open-database.ts';
import { catalogMigrations, migrate } from './migrations.ts';

/** How long to wait for another process. */
const BUSY_TIMEOUT_MS = 1_000;

const columns = 'systemId, appId, birth, generation, making';

/** Returns what is in a system's file and its WAL, without changing them. @throws transient errors of the operating system and SQLite */
export function inspectFile(path: string): Found {
  const absent = stateOfFile(path);
  if (absent) return { place: path, state: absent, identity: null };
  // With another store's WAL beside it, the file would appear to be that store.
  const alone = identityInFile(path);
  // Without a WAL the file alone is the whole. To look once saves most of the time, because SQLite parses hundreds of tables and indexes each time.
  if (alone && !statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return { place: path, state: 'store', identity: alone };
  const whole = inspected(path, path);
  const isAnothers =
    alone && whole.identity && (alone.systemId !== whole.identity.systemId || alone.birth !== whole.identity.birth);
  return { place: path, ...whole, ...(isAnothers && { identity: alone }) };
}

/** Returns the identity in the file itself, ignoring its WAL; `null` if it has none: without the WAL it may be incomplete. */
export function identityInFile(path: string): StoreIdentity | null {
  try {
    return inspected(fileAlone(path), path).identity;
  } catch {
    return null;
  }
}

/** Returns why there is no file that could be opened; `null` if there is one. */
export function stateOfFile(path: string): 'missing' | 'empty' | 'damaged' | null {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return 'damaged';
    return stat.size === 0 ? 'empty' : null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return 'missing';
    throw error;
  }
}

function inspected(address: string | URL, path: string): Pick<Found, 'state' | 'identity'> {
  let db: DatabaseSync | undefined;
  try {
    // A read-only connection leaves the WAL in place when it closes.
    db = new DatabaseSync(address, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const tables = new Set(
      db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .all()
        .map(({ name }) => name),
    );
    if (tables.size === 0) return { state: 'empty', identity: null };
    if (!tables.has('rds_catalog')) return { state: 'foreign', identity: null };
    return { state: 'store', identity: tables.has('rds_store') ? readIdentity(db) : null };
  } catch (error) {
    if (isDamage(error)) return { state: 'damaged', identity: null };
    // The file disappeared while it was opened.
    const absent = stateOfFile(path);
    if (absent) return { state: absent, identity: null };
    throw error;
  } finally {
    db?.close();
  }
}

/** Returns whether SQLite reports a corrupt file. */
export function isDamage(error: unknown): boolean {
  return storeFaultOf(error)?.kind === 'the store is damaged';
}

/**
 * Checks that a file that was reopened while it is served is still the same store.
 * @param isAnother whether it is another file than the served one: a copy lacks the writes made after it
 * @returns its generation
 * @throws StoreRefused if it is another store; SQLite's error
 */
export function checkOpened(db: DatabaseSync, place: string, served: StoreIdentity, isAnother: boolean): number {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rds_store'").get() !== undefined;
  const identity = isThere ? readIdentity(db) : null;
  checkFound({ place, state: isThere ? 'store' : 'foreign', identity }, knownOf(served));
  // The WAL at the path may belong to the previous file.
  if (isAnother && (identityInFile(place)?.generation ?? 0) <= served.generation) throw new StoreRefused('older', place);
  return identity?.generation ?? served.generation;
}

function readIdentity(db: DatabaseSync): StoreIdentity | null {
  return (db.prepare(`SELECT ${columns} FROM rds_store`).get() as StoreIdentity | undefined) ?? null;
}

function writeIdentity(db: DatabaseSync, { systemId, appId, birth, generation, making }: StoreIdentity): void {
  const sql = `INSERT OR REPLACE INTO rds_store (one, ${columns}) VALUES (1, ?, ?, ?, ?, ?)`;
  db.prepare(sql).run(systemId, appId, birth, generation, making);
}

/** Changes the identity in a file, durably. */
function change(db: DatabaseSync, to: (now: StoreIdentity | null) => StoreIdentity): StoreIdentity {
  db.exec('BEGIN IMMEDIATE');
  try {
    const before = readIdentity(db);
    const after = to(before);
    if (JSON.stringify(before) !== JSON.stringify(after)) writeIdentity(db, after);
    db.exec('COMMIT');
    return after;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Does the same for a file that is opened for work. If the disk is too full to increment the generation, the file is opened nevertheless. */
function changeOrKeep(db: DatabaseSync, to: (now: StoreIdentity | null) => StoreIdentity): StoreIdentity {
  try {
    return change(db, to);
  } catch (error) {
    const now = storeFaultOf(error)?.kind === 'the disk is full' ? readIdentity(db) : null;
    if (now === null) throw error;
    const { generation } = to(now);
    if (JSON.stringify(to(now)) !== JSON.stringify({ ...now, generation })) throw error;
    return now;
  }
}

/** Opens an existing file to change its identity. */
function openCatalog(address: string | URL, place: string, opened: (db: DatabaseSync) => void = () => {}): DatabaseSync {
  const db = new DatabaseSync(address, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    opened(db);
    migrate(db, catalogMigrations, place);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Receives events of a file's WAL (wal-mark.ts). */
export interface LogWatch {
  missingSince(db: DatabaseSync): number | null;
  setGeneration(generation: number): void;
  committed(db: DatabaseSync): void;
}

/** A file whose identity was checked; it is kept open until it is served. */
export interface TakenFile {
  readonly identity: StoreIdentity;
  /** Time from which writes may be missing, in milliseconds since 1970; `null` if there is no sign of that. */
  readonly missingSince: number | null;
  readonly close: () => void;
}

/**
 * Checks, in one transaction, that a file is the store that the registry knows, and records why it is opened.
 * @param minGeneration that it must have
 * @throws StoreRefused if it is another store; OperatorError if a later version of the service wrote it
 */
export function takeFile(path: string, known: KnownStore, purpose: Purpose, log: LogWatch, minGeneration: number): TakenFile {
  let missingSince: number | null = null;
  const db = openCatalog(existingFile(path), path, (fresh) => {
    missingSince = log.missingSince(fresh);
  });
  try {
    const identity = changeOrKeep(db, (found) => {
      checkFound({ state: 'store', place: path, identity: found }, { ...known, generation: minGeneration });
      const { systemId, appId } = known;
      const now = found ?? { systemId, appId, birth: newBirth(), generation: 0, making: null };
      const making = purpose === 'making' ? now.making : null;
      return { ...now, generation: Math.max(now.generation, known.generation) + (purpose === 'serving' ? 1 : 0), making };
    });
    log.setGeneration(identity.generation);
    log.committed(db);
    return { identity, missingSince, close: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Increments the generation of an open store. @returns it; `null` if the store has none */
export function growGeneration(db: DatabaseSync): number | null {
  const row = db.prepare('UPDATE rds_store SET generation = generation + 1 RETURNING generation').get();
  return row ? Number(row.generation) : null;
}

/** Gives an existing file another identity. When this returns it is in the file itself. @throws StoreRefused if there is no store */
export function identifyFile(path: string, identity: StoreIdentity): void {
  const { state } = inspectFile(path);
  if (state !== 'store') throw new StoreRefused(state, path);
  const db = openCatalog(existingFile(path), path);
  try {
    change(db, () => identity);
    // The identity in the file itself is checked before its WAL is trusted.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** Creates a file with the tables of the catalogue and an identity, and nothing else. */
export function makeFile(path: string, identity: StoreIdentity): void {
  const db = openCatalog(path, path);
  try {
    change(db, () => identity);
  } finally {
    db.close();
  }
}

/** Verifies a whole file and its WAL. @returns what is wrong; `null`: nothing */
export function verifyFile(path: string): string | null {
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const found = String(db.prepare('PRAGMA quick_check(1)').get()?.quick_check);
    return found === 'ok' ? null : found.replaceAll(/\s+/g, ' ').slice(0, 200);
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  } finally {
    db.close();
  }
}
