import type { DatabaseSync } from 'node:sqlite';
import { type Field, fieldOf, type TableIndex, type TableSchema } from '../../../schema/model.ts';
import { MAX_SEARCHED_LENGTH, PHONE_END, searchRole } from '../../../schema/search-index.ts';
import { quoted as quote } from '../../sql/sql-writer.ts';
import type { Connection } from '../connection/connection.ts';
import { changesName, searchTableName } from '../sql/search.ts';

/** Records whose words are added to the index in one batch: this takes about 5 ms, a tenth of what adding them with each commit would take. */
const BATCH_SIZE = 500;
/** FTS5 merge settings while an index is being filled: no automatic merges, unless the segments become very many. */
const FILLING_MERGES = { automerge: 0, crisismerge: 64 };
/** SQLite's defaults. */
const DEFAULT_MERGES = { automerge: 4, crisismerge: 16 };
/** Pages merged at a time, which takes a millisecond or two. */
const MERGE_STEP_PAGES = 16;

/**
 * Creates the search index of a table: full text without positions and without the texts, since the records found are checked again. Triggers record
 * which records each commit adds or changes, and add the words of a full batch to the index; recorded ones count as found until then. If the index is
 * to be filled (`isFilling`), it starts without the existing records (`fillSearchIndex`).
 */
export function createSearchIndex(db: DatabaseSync, table: TableSchema, { keys, isFilling }: TableIndex): void {
  const fields = keys.map(([name]) => fieldOf(table, name));
  const index = quote(searchTableName(table));
  const changes = quote(changesName(table));
  const source = quote(table.sqlName);
  db.exec(
    `CREATE VIRTUAL TABLE ${index} USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 2')`,
  );
  if (isFilling) {
    const filled = quote(filledName(table));
    db.exec(`CREATE TABLE ${filled} (upTo INTEGER NOT NULL, last INTEGER NOT NULL)`);
    db.exec(`INSERT INTO ${filled} SELECT 0, coalesce(max("_seq"), 0) FROM ${source}`);
    configure(db, table, FILLING_MERGES);
  } else db.exec(`INSERT INTO ${index} (rowid, words) SELECT "_seq", ${textOf(fields, 't')} FROM ${source} AS t ORDER BY "_seq"`);
  // Ids restart with each batch.
  db.exec(`CREATE TABLE ${changes} (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL)`);
  const columns = fields.map(({ column }) => quote(column));
  const changed = columns.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ');
  const note = `INSERT INTO ${changes} (seq) VALUES (new."_seq");`;
  const [onInsert, onUpdate, onDelete] = triggersOf(table);
  db.exec(`CREATE TRIGGER ${onInsert} AFTER INSERT ON ${source} BEGIN ${note} END`);
  db.exec(`CREATE TRIGGER ${onUpdate} AFTER UPDATE OF ${columns.join(', ')} ON ${source} WHEN ${changed} BEGIN ${note} END`);
  db.exec(`CREATE TRIGGER ${onDelete} AFTER DELETE ON ${source} BEGIN DELETE FROM ${index} WHERE rowid = old."_seq"; END`);
  db.exec(`CREATE TRIGGER ${quote(`${changesName(table)}~insert`)} AFTER INSERT ON ${changes} WHEN new.id >= ${BATCH_SIZE} BEGIN
    INSERT OR REPLACE INTO ${index} (rowid, words) SELECT t."_seq", ${textOf(fields, 't')}
      FROM ${source} AS t WHERE t."_seq" IN (SELECT seq FROM ${changes}) ORDER BY t."_seq";
    DELETE FROM ${changes};
  END`);
}

/**
 * Adds the next records to a search index that is being filled, and records the progress, inside the caller's transaction. Records that the triggers
 * have already added are added again; records created after the index are left to the triggers.
 * @param count maximum number of records
 * @returns whether there were any
 */
export function fillSearchIndex(connection: Connection, table: TableSchema, { keys }: TableIndex, count: number): boolean {
  const filled = quote(filledName(table));
  const source = quote(table.sqlName);
  const next = `SELECT t."_seq" FROM ${filled} AS f CROSS JOIN ${source} AS t
    WHERE t."_seq" > f.upTo AND t."_seq" <= f.last ORDER BY t."_seq" LIMIT ?`;
  const [to] = connection.first({ text: `SELECT max("_seq") FROM (${next})`, params: [count] }) ?? [];
  if (typeof to !== 'number') return false;
  const words = textOf(
    keys.map(([name]) => fieldOf(table, name)),
    't',
  );
  connection.run({
    text: `INSERT OR REPLACE INTO ${quote(searchTableName(table))} (rowid, words) SELECT t."_seq", ${words}
      FROM ${filled} AS f CROSS JOIN ${source} AS t WHERE t."_seq" > f.upTo AND t."_seq" <= ? ORDER BY t."_seq"`,
    params: [to],
  });
  connection.run({ text: `UPDATE ${filled} SET upTo = ?`, params: [to] });
  return true;
}

/**
 * Merges segments of an index that is being filled, for a limited time. Automatic merges would occasionally take ten times as long. Inside the
 * caller's transaction.
 */
export function mergeSearchIndex(connection: Connection, table: TableSchema, limitMs: number): void {
  const index = quote(searchTableName(table));
  const merge = { text: `INSERT INTO ${index} (${index}, rank) VALUES ('merge', ${MERGE_STEP_PAGES})`, params: [] };
  const until = performance.now() + limitMs;
  const changes = () => Number(connection.first({ text: 'SELECT total_changes()', params: [] })?.[0]);
  for (let before = changes(), now = before + 2; now - before >= 2 && performance.now() < until; ) {
    before = changes();
    connection.run(merge);
    // One change is made by the command itself (https://sqlite.org/fts5.html, "The 'merge' Command").
    now = changes();
  }
}

/** Enables automatic merges. */
export function completeSearchIndex(db: DatabaseSync, table: TableSchema): void {
  db.exec(`DROP TABLE IF EXISTS ${quote(filledName(table))}`);
  configure(db, table, DEFAULT_MERGES);
}

function configure(db: DatabaseSync, table: TableSchema, settings: Readonly<Record<string, number>>): void {
  const index = quote(searchTableName(table));
  for (const [name, value] of Object.entries(settings))
    db.exec(`INSERT INTO ${index} (${index}, rank) VALUES ('${name}', ${value})`);
}

/** Drops the search index of a table, if it has one. */
export function dropSearchIndex(db: DatabaseSync, table: Pick<TableSchema, 'sqlName'>): void {
  for (const trigger of triggersOf(table)) db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(changesName(table))}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(filledName(table))}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(searchTableName(table))}`);
}

/** Returns the name of a table with one row: the position up to which records are in the index, and the position of the last one to add. */
const filledName = (table: Pick<TableSchema, 'sqlName'>): string => `${searchTableName(table)}~filled`;

const triggersOf = (table: Pick<TableSchema, 'sqlName'>) =>
  ['insert', 'update', 'delete'].map((event) => quote(`${searchTableName(table)}~${event}`));

/** Returns the SQL of the text by which a record is found. */
const textOf = (fields: readonly Field[], row: string): string =>
  fields.map((field) => `coalesce(${wordsOf(field, `${row}.${quote(field.column)}`)}, '')`).join(" || ' ' || ");

function wordsOf(field: Field, column: string): string {
  const role = searchRole(field);
  if (role === 'count' || role === 'phoneCount')
    return `CASE WHEN abs(${column}) < 1e15 THEN CAST(CAST(${column} AS INTEGER) AS TEXT) END`;
  const text = `substr(${column}, 1, ${MAX_SEARCHED_LENGTH})`;
  return role === 'phone' ? `${text} || ' ' || ${phoneOf(text)}` : text;
}

/** Characters that people write between the digits of a phone number. */
const GAPS = '+-() ./';

/** Returns the SQL of the phone number without separators, in national form, followed by the token of its last digits. */
function phoneOf(text: string): string {
  const digits = [...GAPS].reduce((sql, gap) => `replace(${sql}, '${gap}', '')`, text);
  const from = (start: number) => `'0' || ltrim(substr(d, ${start}), '0')`;
  const national = `CASE WHEN d GLOB '00972*' THEN ${from(6)} WHEN d GLOB '972*' THEN ${from(4)} ELSE d END`;
  return `(SELECT ${national} || ' ${PHONE_END.letter}' || substr(d, -${PHONE_END.digits}) FROM (SELECT ${digits} AS d))`;
}
