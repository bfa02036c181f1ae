import type { DatabaseSync } from 'node:sqlite';
import { type Field, fieldOf, type TableIndex, type TableSchema } from '../../../schema/model.ts';
import { MAX_SEARCHED_LENGTH, PHONE_END, searchRole } from '../../../schema/search-index.ts';
import { quoted as quote } from '../../sql/writer.ts';
import type { Connection } from '../connection/connection.ts';
import { changesName, searchTableName } from '../sql/search.ts';

/** Records whose words are put into the index at once: in some 5 ms, a tenth of what as many commits would take for their own. */
const BATCH_SIZE = 500;
/** From how many parts of a size on it merges some of them with each commit, or all at once: never of itself while it is filled, unless they become many. */
const FILLED_MERGES = { automerge: 0, crisismerge: 64 };
/** SQLite's own. */
const USUAL_MERGES = { automerge: 4, crisismerge: 16 };
/** Pages that are merged at a time: in a millisecond or two. */
const MERGED_PAGES = 16;

/**
 * Makes the search index of a table: full text without positions and without the texts, since what is found is looked at once more. Triggers
 * note in each commit which records are new or changed, and put the words of so many into the index; those noted count as found until then.
 * One that is to be filled (`isFilling`) has none of the records that are there (`fillSearchIndex`).
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
    configure(db, table, FILLED_MERGES);
  } else db.exec(`INSERT INTO ${index} (rowid, words) SELECT "_seq", ${textOf(fields, 't')} FROM ${source} AS t ORDER BY "_seq"`);
  // Ids begin anew with each batch.
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
 * Puts the next records into a search index that is being filled, and notes how far it is, inside the caller's transaction. Those that the
 * triggers have put in already are put in once more; records that came after the index was made are the triggers' alone.
 * @param count of records, at the most
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
 * Merges some of what an index that is being filled is made of, for so long. By itself it would do that now and then for ten times as long.
 * Inside the caller's transaction.
 */
export function mergeSearchIndex(connection: Connection, table: TableSchema, limitMs: number): void {
  const index = quote(searchTableName(table));
  const merge = { text: `INSERT INTO ${index} (${index}, rank) VALUES ('merge', ${MERGED_PAGES})`, params: [] };
  const until = performance.now() + limitMs;
  const changes = () => Number(connection.first({ text: 'SELECT total_changes()', params: [] })?.[0]);
  for (let before = changes(), now = before + 2; now - before >= 2 && performance.now() < until; ) {
    before = changes();
    connection.run(merge);
    // One change is the command's own (https://sqlite.org/fts5.html, "The 'merge' Command").
    now = changes();
  }
}

/** It merges by itself from now on. */
export function completeSearchIndex(db: DatabaseSync, table: TableSchema): void {
  db.exec(`DROP TABLE IF EXISTS ${quote(filledName(table))}`);
  configure(db, table, USUAL_MERGES);
}

function configure(db: DatabaseSync, table: TableSchema, settings: Readonly<Record<string, number>>): void {
  const index = quote(searchTableName(table));
  for (const [name, value] of Object.entries(settings))
    db.exec(`INSERT INTO ${index} (${index}, rank) VALUES ('${name}', ${value})`);
}

/** Takes the search index of a table away, where it has one. */
export function dropSearchIndex(db: DatabaseSync, table: Pick<TableSchema, 'sqlName'>): void {
  for (const trigger of triggersOf(table)) db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(changesName(table))}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(filledName(table))}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(searchTableName(table))}`);
}

/** The table, of one row, of the place up to which the records are in the index, and where the last of them is that are to be put in. */
const filledName = (table: Pick<TableSchema, 'sqlName'>): string => `${searchTableName(table)}~filled`;

const triggersOf = (table: Pick<TableSchema, 'sqlName'>) =>
  ['insert', 'update', 'delete'].map((event) => quote(`${searchTableName(table)}~${event}`));

/** SQL of all that a record is found by. */
const textOf = (fields: readonly Field[], row: string): string =>
  fields.map((field) => `coalesce(${wordsOf(field, `${row}.${quote(field.column)}`)}, '')`).join(" || ' ' || ");

function wordsOf(field: Field, column: string): string {
  const role = searchRole(field);
  if (role === 'count' || role === 'phoneCount')
    return `CASE WHEN abs(${column}) < 1e15 THEN CAST(CAST(${column} AS INTEGER) AS TEXT) END`;
  const text = `substr(${column}, 1, ${MAX_SEARCHED_LENGTH})`;
  return role === 'phone' ? `${text} || ' ' || ${phoneOf(text)}` : text;
}

/** Characters that people write between the digits of a phone. */
const GAPS = '+-() ./';

/** The number without what stands between its digits, as it is dialled in the country, and its end. */
function phoneOf(text: string): string {
  const digits = [...GAPS].reduce((sql, gap) => `replace(${sql}, '${gap}', '')`, text);
  const from = (start: number) => `'0' || ltrim(substr(d, ${start}), '0')`;
  const national = `CASE WHEN d GLOB '00972*' THEN ${from(6)} WHEN d GLOB '972*' THEN ${from(4)} ELSE d END`;
  return `(SELECT ${national} || ' ${PHONE_END.letter}' || substr(d, -${PHONE_END.digits}) FROM (SELECT ${digits} AS d))`;
}
