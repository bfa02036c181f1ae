import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Purpose } from '../../engine.ts';
import { checkFound, type Found, type KnownStore, knownOf, newBirth, type StoreIdentity, StoreRefused } from '../../identity.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { existingFile, fileAlone } from '../connection/open-database.ts';
import { catalogMigrations, migrate } from './migrations.ts';

/** How long to wait for another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 1_000;

const columns = 'systemId, appId, birth, generation, making';

/** What is in a system's file, with its log of changes. It stays as it is. @throws what the operating system and SQLite say of passing faults */
export function inspectFile(path: string): Found {
  const absent = stateOfFile(path);
  if (absent) return { place: path, state: absent, identity: null };
  // A log of changes over a file that is another's would look as if that were its own.
  const alone = identityInFile(path);
  const whole = inspected(path, path);
  const isAnothers =
    alone && whole.identity && (alone.systemId !== whole.identity.systemId || alone.birth !== whole.identity.birth);
  return { place: path, ...whole, ...(isAnothers && { identity: alone }) };
}

/** What the file itself says, without its log of changes; `null` where it says nothing: it may be half written, and mended by its log. */
export function identityInFile(path: string): StoreIdentity | null {
  try {
    return inspected(fileAlone(path), path).identity;
  } catch {
    return null;
  }
}

/** Whether there is no file to be opened. */
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
    // A connection that may not write leaves the log where it is when it closes.
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
    // It went while it was opened.
    const absent = stateOfFile(path);
    if (absent) return { state: absent, identity: null };
    throw error;
  } finally {
    db?.close();
  }
}

/** Whether SQLite says that a file is broken. */
export function isDamage(error: unknown): boolean {
  return storeFaultOf(error)?.kind === 'the store is damaged';
}

/**
 * Makes sure of a file that was opened anew while it is served that it is still the same store.
 * @param isAnother whether it is another file than the one that was served: a copy lacks what was written after it was made
 * @returns its generation
 * @throws StoreRefused where it is another one; what SQLite says
 */
export function checkOpened(db: DatabaseSync, place: string, served: StoreIdentity, isAnother: boolean): number {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rds_store'").get() !== undefined;
  const identity = isThere ? readIdentity(db) : null;
  checkFound({ place, state: isThere ? 'store' : 'foreign', identity }, knownOf(served));
  // The log that lies there may be that of the one before.
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

/** Changes the identity that a file has, durably. */
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

/** The same of a file that is opened for work: where there is no room for more than a grown generation, it is read all the same. */
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

/** Opens a file that is there, to give it an identity. */
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

/** Watches the log of changes of a file (wal-mark.ts). */
export interface LogWatch {
  missingSince(db: DatabaseSync): number | null;
  isGeneration(generation: number): void;
  committed(db: DatabaseSync): void;
}

/** A file whose identity is certain, and what keeps it open until it is served. */
export interface TakenFile {
  readonly identity: StoreIdentity;
  /** From when on writes may be missing, in milliseconds since 1970; `null` where nothing says so. */
  readonly missingSince: number | null;
  readonly close: () => void;
}

/**
 * Makes sure, in one transaction, that a file is the store that the registry knows, and notes what it is opened for.
 * @param least generation that it has to have
 * @throws StoreRefused where it is another one; OperatorError for one of a later version of the service
 */
export function takeFile(path: string, known: KnownStore, purpose: Purpose, log: LogWatch, least: number): TakenFile {
  let missingSince: number | null = null;
  const db = openCatalog(existingFile(path), path, (fresh) => {
    missingSince = log.missingSince(fresh);
  });
  try {
    const identity = changeOrKeep(db, (found) => {
      checkFound({ state: 'store', place: path, identity: found }, { ...known, generation: least });
      const { systemId, appId } = known;
      const now = found ?? { systemId, appId, birth: newBirth(), generation: 0, making: null };
      const making = purpose === 'making' ? now.making : null;
      return { ...now, generation: Math.max(now.generation, known.generation) + (purpose === 'serving' ? 1 : 0), making };
    });
    log.isGeneration(identity.generation);
    log.committed(db);
    return { identity, missingSince, close: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Has the generation of an open store grow. @returns it; `null` where the store has none */
export function growGeneration(db: DatabaseSync): number | null {
  const row = db.prepare('UPDATE rds_store SET generation = generation + 1 RETURNING generation').get();
  return row ? Number(row.generation) : null;
}

/** Gives a file that is there another identity. The file alone has it when this returns. @throws StoreRefused where there is none */
export function identifyFile(path: string, identity: StoreIdentity): void {
  const { state } = inspectFile(path);
  if (state !== 'store') throw new StoreRefused(state, path);
  const db = openCatalog(existingFile(path), path);
  try {
    change(db, () => identity);
    // What the file alone says is asked before its log of changes is trusted.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** Makes a file that holds the tables of the catalogue and whose it is, and nothing else. */
export function makeFile(path: string, identity: StoreIdentity): void {
  const db = openCatalog(path, path);
  try {
    change(db, () => identity);
  } finally {
    db.close();
  }
}

/** Reads a whole file, with its log of changes. @returns what is wrong; `null`: nothing */
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
