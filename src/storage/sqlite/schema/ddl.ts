import type { DatabaseSync } from 'node:sqlite';
import { fail } from '../../../errors/fail.ts';
import type { SchemaStep } from '../../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableIndex, type TableSchema, tableOf } from '../../../schema/model.ts';
import { SEARCH_INDEX } from '../../../schema/search-index.ts';
import { isGuarding, lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { storageOf } from '../../../values/index.ts';
import type { Storage } from '../../../values/types/type.ts';
import { isActorField, quoted as quote } from '../../sql/sql-writer.ts';
import type { Connection } from '../connection/connection.ts';
import { maxRowCount } from '../connection/statements.ts';
import { createUniqueIndex, dropUniqueIndex, requireValues } from './constraints.ts';
import { copyConverted } from './retype.ts';
import { completeSearchIndex, createSearchIndex, dropSearchIndex } from './search-index.ts';
import { createTextIndex, dropTextIndex, type TextIndex } from './text-index.ts';

const columnTypes: Record<Storage, string> = {
  text: 'TEXT',
  number: 'REAL',
  boolean: 'INTEGER',
  date: 'INTEGER',
  pointer: 'TEXT',
  json: 'TEXT',
  relation: '',
};

/** Limit of the product of changed columns and present columns: SQLite parses the whole table definition again for each changed column. */
const MAX_COLUMN_WORK = 5_000;
/** Tables with at most this many records are copied faster than many columns are added one by one. */
const MAX_SHORT_RECORDS = 10_000;

/**
 * Executes a step of a schema change in SQL, inside the caller's transaction.
 * @param before the schema without the change
 * @param after the schema with it (`applyStep`), which names the columns
 * @throws schemaOperation (255) if a table to drop has records; contradictedIndex (137), recordsLackField (142)
 */
export function applyDdl(connection: Connection, change: SchemaStep, before: Schema, after: Schema): void {
  const { db } = connection;
  if (change.kind === 'setTemplateVersion') return;
  const table = after.tables.get(change.className) ?? before.tables.get(change.className);
  if (!table) throw new Error(`table ${change.className} is missing`);
  switch (change.kind) {
    case 'createTable':
      createTable(db, table);
      break;
    case 'dropTable':
      if (!change.withRecords) refuseRecords(db, table);
      for (const field of table.fields.values()) if (field.type === 'Relation') dropColumn(db, table, field);
      dropTextIndex(db, textIndexOf(table));
      if (table.indexes.has(SEARCH_INDEX)) dropSearchIndex(db, table);
      db.exec(`DROP TABLE ${quote(table.sqlName)}`);
      break;
    case 'addFields': {
      const old = tableOf(before, change.className);
      if (isLongChange(change, old) && maxRowCount(connection, old) <= MAX_SHORT_RECORDS) remakeTable(db, old, table);
      else
        addColumns(
          db,
          table,
          change.fields.map(({ name }) => fieldOf(table, name)),
        );
      requireValues(db, old, table);
      break;
    }
    case 'dropFields': {
      const old = tableOf(before, change.className);
      if (isLongChange(change, old)) {
        remakeTable(db, old, table);
        break;
      }
      const isText = change.names.some((name) => old.textIndex.includes(name));
      if (isText) dropTextIndex(db, textIndexOf(old));
      for (const name of change.names) dropColumn(db, old, fieldOf(old, name));
      if (isText) createTextIndex(db, textIndexOf(table));
      break;
    }
    case 'retypeField': {
      const old = tableOf(before, change.className);
      createColumns(db, table, table.sqlName);
      copyConverted(connection, change, old, after);
      replaceTable(db, old, table);
      break;
    }
    case 'setIndex': {
      dropIndex(db, table, change.index.name);
      createIndex(db, table, change.index);
      break;
    }
    case 'dropIndex':
      dropIndex(db, table, change.name);
      break;
    case 'completeSearchIndex':
      completeSearchIndex(db, table);
      break;
    case 'setTextIndex':
      dropTextIndex(db, textIndexOf(tableOf(before, change.className)));
      createTextIndex(db, textIndexOf(table));
      break;
    case 'setUniqueIndex':
      createUniqueIndex(db, table, change.index);
      break;
    case 'dropUniqueIndex':
      dropUniqueIndex(db, table, change.name);
      break;
    case 'setFieldsOptions':
      requireValues(db, tableOf(before, change.className), table);
      break;
    case 'renameFields':
    case 'setPermissions':
    case 'setTimeline':
    case 'setCopied':
    case 'setFormerNames':
      break;
  }
}

/** Returns whether a step changes too many columns to add or drop them one by one on the event loop. */
export function isLongChange(change: Extract<SchemaStep, { kind: 'addFields' | 'dropFields' }>, table: TableSchema): boolean {
  const columns = change.kind === 'addFields' ? change.fields.length : change.names.length;
  return columns > 1 && columns * (table.fields.size + columns) > MAX_COLUMN_WORK;
}

/** Runs inside the transaction, so that no record can be added in between. @throws schemaOperation (255) */
function refuseRecords(db: DatabaseSync, table: TableSchema): void {
  const count = Number(db.prepare(`SELECT count(*) AS records FROM ${quote(table.sqlName)}`).get()?.records);
  if (count > 0) fail('schemaOperation', `Class ${table.className} is not empty, contains ${count} objects, cannot drop schema.`);
}

function createTable(db: DatabaseSync, table: TableSchema): void {
  createColumns(db, table, table.sqlName);
  createIndexes(db, table);
  for (const field of table.fields.values()) if (field.type === 'Relation') createJoinTable(db, field);
}

/** Creates a table under the given name, without its indexes. */
function createColumns(db: DatabaseSync, table: TableSchema, sqlName: string): void {
  const columns = ['"_seq" INTEGER PRIMARY KEY'];
  for (const field of table.fields.values()) {
    if (field.type === 'Relation') continue;
    const required = field.name === 'objectId' || field.name === 'createdAt' || field.name === 'updatedAt';
    columns.push(`${quote(field.column)} ${columnTypes[storageOf(field)]}${required ? ' NOT NULL' : ''}`);
  }
  db.exec(`CREATE TABLE ${quote(sqlName)} (${columns.join(', ')})`);
}

/** Creates the indexes that every table has. */
function createIndexes(db: DatabaseSync, table: TableSchema): void {
  db.exec(`CREATE UNIQUE INDEX ${quote(`u~${table.sqlName}`)} ON ${quote(table.sqlName)} ("objectId")`);
  db.exec(`CREATE INDEX ${quote(fieldIndex(table, fieldOf(table, 'createdAt')))} ON ${quote(table.sqlName)} ("createdAt")`);
  for (const field of table.fields.values()) createFieldIndex(db, table, field);
}

/** Columns are added before indexes, since each added column makes SQLite parse the table's indexes again. */
function addColumns(db: DatabaseSync, table: TableSchema, fields: readonly Field[]): void {
  for (const field of fields)
    if (field.type === 'Relation') createJoinTable(db, field);
    else db.exec(`ALTER TABLE ${quote(table.sqlName)} ADD COLUMN ${quote(field.column)} ${columnTypes[storageOf(field)]}`);
  for (const field of fields) createFieldIndex(db, table, field);
}

/**
 * Changes the columns of a table by copying it (https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes"): one pass
 * over its records for any number of columns.
 */
function remakeTable(db: DatabaseSync, old: TableSchema, table: TableSchema): void {
  dropTextIndex(db, textIndexOf(old));
  if (old.indexes.has(SEARCH_INDEX)) dropSearchIndex(db, old);
  // Cannot collide with record tables, which start with `t_`.
  const copy = `n~${table.sqlName}`;
  createColumns(db, table, copy);
  const kept = ['"_seq"'];
  for (const [name, field] of table.fields) if (field.type !== 'Relation' && old.fields.has(name)) kept.push(quote(field.column));
  db.exec(`INSERT INTO ${quote(copy)} (${kept.join(', ')}) SELECT ${kept.join(', ')} FROM ${quote(old.sqlName)} ORDER BY "_seq"`);
  db.exec(`DROP TABLE ${quote(old.sqlName)}`);
  db.exec(`ALTER TABLE ${quote(copy)} RENAME TO ${quote(table.sqlName)}`);
  createIndexes(db, table);
  for (const index of table.indexes.values()) createIndex(db, table, index);
  for (const index of table.uniqueIndexes.values()) createUniqueIndex(db, table, index);
  createTextIndex(db, textIndexOf(table));
  for (const [name, field] of old.fields) if (field.type === 'Relation' && !table.fields.has(name)) dropColumn(db, old, field);
  for (const [name, field] of table.fields) if (field.type === 'Relation' && !old.fields.has(name)) createJoinTable(db, field);
}

/**
 * Drops a table whose records are in its copy, and gives the copy the indexes, except the search index. The tables of its Relations stay.
 * @throws contradictedIndex (137) if values were converted to the same one
 */
function replaceTable(db: DatabaseSync, old: TableSchema, table: TableSchema): void {
  dropTextIndex(db, textIndexOf(old));
  if (old.indexes.has(SEARCH_INDEX)) dropSearchIndex(db, old);
  db.exec(`DROP TABLE ${quote(old.sqlName)}`);
  createIndexes(db, table);
  for (const index of table.indexes.values()) if (index.name !== SEARCH_INDEX) createIndex(db, table, index);
  for (const index of table.uniqueIndexes.values()) createUniqueIndex(db, table, index);
  createTextIndex(db, textIndexOf(table));
}

function createJoinTable(db: DatabaseSync, relation: Field): void {
  const join = quote(relation.column);
  db.exec(`CREATE TABLE ${join} (owner TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (owner, member)) WITHOUT ROWID`);
  db.exec(`CREATE INDEX ${quote(`m~${relation.column}`)} ON ${join} (member, owner)`);
}

/** Creates the index that a field has because of its type or purpose. */
function createFieldIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  if (field.type === 'Pointer') createPointerIndex(db, table, field);
  if (uniqueFieldsOf(table.className).has(field.name)) createUniqueFieldIndex(db, table, field);
  if (lookUpFieldsOf(table.className).has(field.name)) createLookUpIndex(db, table, field);
}

/** NULLs are not duplicates of each other. */
function createUniqueFieldIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  db.exec(`CREATE UNIQUE INDEX ${quote(fieldIndex(table, field))} ON ${quote(table.sqlName)} (${quote(field.column)})`);
}

/** Records with the same value are in creation order. No query looks for records without a value. */
function createLookUpIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  const column = quote(field.column);
  db.exec(`CREATE INDEX ${quote(fieldIndex(table, field))} ON ${quote(table.sqlName)} (${column}) WHERE ${column} IS NOT NULL`);
}

/** The delete guard looks up every Pointer column except those of history, most of which are empty. */
function createPointerIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  const column = quote(field.column);
  const wanted = isGuarding(table.className, field.name) ? '' : ` WHERE ${column} IS NOT NULL`;
  const condition = isActorField(field) ? ` WHERE ${column} <> 'master'` : wanted;
  db.exec(`CREATE INDEX ${quote(fieldIndex(table, field))} ON ${quote(table.sqlName)} (${column})${condition}`);
}

function dropColumn(db: DatabaseSync, table: TableSchema, field: Field): void {
  if (field.type === 'Relation') {
    db.exec(`DROP TABLE ${quote(field.column)}`);
    return;
  }
  db.exec(`DROP INDEX IF EXISTS ${quote(fieldIndex(table, field))}`);
  for (const index of table.indexes.values())
    if (index.keys.some(([name]) => name === field.name)) dropIndex(db, table, index.name);
  for (const { name, fields } of table.uniqueIndexes.values()) if (fields.includes(field.name)) dropUniqueIndex(db, table, name);
  db.exec(`ALTER TABLE ${quote(table.sqlName)} DROP COLUMN ${quote(field.column)}`);
}

const fieldIndex = (table: TableSchema, field: Field) => `f~${table.sqlName}~${field.column}`;
const userIndex = (table: TableSchema, name: string) => `i~${table.sqlName}~${name}`;

/** Equal values are ordered by objectId, so an index that ends with it provides a sorted page without a sort. */
function createIndex(db: DatabaseSync, table: TableSchema, index: TableIndex): void {
  const { name, keys } = index;
  if (name === SEARCH_INDEX) {
    createSearchIndex(db, table, index);
    return;
  }
  const columns = keys.map(([field, direction]) => `${quote(fieldOf(table, field).column)}${direction < 0 ? ' DESC' : ''}`);
  if (!keys.some(([field]) => field === 'objectId')) columns.push('"objectId"');
  db.exec(`CREATE INDEX ${quote(userIndex(table, name))} ON ${quote(table.sqlName)} (${columns.join(', ')})`);
}

const textIndexOf = (table: TableSchema): TextIndex => ({
  sqlName: table.sqlName,
  columns: table.textIndex.map((name) => fieldOf(table, name).column),
});

function dropIndex(db: DatabaseSync, table: TableSchema, name: string): void {
  if (name === SEARCH_INDEX) {
    dropSearchIndex(db, table);
    return;
  }
  db.exec(`DROP INDEX IF EXISTS ${quote(userIndex(table, name))}`);
}
