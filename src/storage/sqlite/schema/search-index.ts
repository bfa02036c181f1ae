import type { DatabaseSync } from 'node:sqlite';
import { type Field, fieldOf, type TableIndex, type TableSchema } from '../../../schema/model.ts';
import { MAX_SEARCHED_LENGTH, PHONE_END, searchRole } from '../../../schema/search-index.ts';
import { quoted as quote } from '../../sql/writer.ts';
import { changesName, searchTableName } from '../sql/search.ts';

/** Records whose words are put into the index at once: in some 5 ms, a tenth of what as many commits would take for their own. */
const BATCH_SIZE = 500;

/**
 * Makes the search index of a table: full text without positions and without the texts, since what is found is looked at once more. Triggers
 * note in each commit which records are new or changed, and put the words of so many into the index; those noted count as found until then.
 */
export function createSearchIndex(db: DatabaseSync, table: TableSchema, { keys }: TableIndex): void {
  const fields = keys.map(([name]) => fieldOf(table, name));
  const index = quote(searchTableName(table));
  const changes = quote(changesName(table));
  const source = quote(table.sqlName);
  db.exec(
    `CREATE VIRTUAL TABLE ${index} USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 2')`,
  );
  db.exec(`INSERT INTO ${index} (rowid, words) SELECT "_seq", ${textOf(fields, 't')} FROM ${source} AS t ORDER BY "_seq"`);
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

/** Takes the search index of a table away, where it has one. */
export function dropSearchIndex(db: DatabaseSync, table: Pick<TableSchema, 'sqlName'>): void {
  for (const trigger of triggersOf(table)) db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(changesName(table))}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(searchTableName(table))}`);
}

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
