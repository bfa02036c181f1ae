import type { DatabaseSync } from 'node:sqlite';
import { MAX_INDEXED_LENGTH } from '../../sql/full-text/words.ts';
import { quoted as quote } from '../../sql/sql-writer.ts';
import { ftsName } from '../sql/full-text.ts';

/** The full-text index of a table; no columns: there is none. */
export interface TextIndex {
  readonly sqlName: string;
  readonly columns: readonly string[];
}

/** Drops the index of a table. */
export function dropTextIndex(db: DatabaseSync, index: TextIndex): void {
  if (index.columns.length === 0) return;
  dropTriggers(db, index);
  db.exec(`DROP TABLE IF EXISTS ${quote(ftsName(index))}`);
}

/**
 * Creates a full-text index over columns whose texts stay in the record table (external content). Triggers update it within the same commit. It
 * contains the beginning of each text (`MAX_INDEXED_LENGTH`) without Hebrew points, which FTS5 would treat as separators; therefore FTS5 commands
 * that read the texts (`rebuild`, `integrity-check`) must not be used on it.
 */
export function createTextIndex(db: DatabaseSync, index: TextIndex): void {
  if (index.columns.length === 0) return;
  const fts = quote(ftsName(index));
  const list = index.columns.map(quote).join(', ');
  const content = index.sqlName.replaceAll("'", "''");
  db.exec(
    `CREATE VIRTUAL TABLE ${fts} USING fts5(${list}, content='${content}', content_rowid='_seq', tokenize='unicode61 remove_diacritics 2')`,
  );
  db.exec(`INSERT INTO ${fts} (rowid, ${list}) SELECT "_seq", ${partsOf(index, 't')} FROM ${quote(index.sqlName)} AS t`);
  createTriggers(db, index);
}

const triggersOf = (index: TextIndex) => ['insert', 'update', 'delete'].map((event) => quote(`${ftsName(index)}~${event}`));

function dropTriggers(db: DatabaseSync, index: TextIndex): void {
  for (const trigger of triggersOf(index)) db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
}

/** FTS5 removes words using the text that they came from, so the same part of it must be passed. */
function createTriggers(db: DatabaseSync, index: TextIndex): void {
  const fts = quote(ftsName(index));
  const source = quote(index.sqlName);
  const list = index.columns.map(quote).join(', ');
  const add = `INSERT INTO ${fts} (rowid, ${list}) VALUES (new."_seq", ${partsOf(index, 'new')});`;
  const remove = `INSERT INTO ${fts} (${fts}, rowid, ${list}) VALUES ('delete', old."_seq", ${partsOf(index, 'old')});`;
  const [onInsert, onUpdate, onDelete] = triggersOf(index);
  db.exec(`CREATE TRIGGER ${onInsert} AFTER INSERT ON ${source} BEGIN ${add} END`);
  db.exec(`CREATE TRIGGER ${onUpdate} AFTER UPDATE OF ${list} ON ${source} BEGIN ${remove} ${add} END`);
  db.exec(`CREATE TRIGGER ${onDelete} AFTER DELETE ON ${source} BEGIN ${remove} END`);
}

/** Returns the SQL of a row's texts as they are indexed. */
const partsOf = ({ columns }: TextIndex, row: string) =>
  columns.map((column) => `rds_without_points(substr(${row}.${quote(column)}, 1, ${MAX_INDEXED_LENGTH}))`).join(', ');
