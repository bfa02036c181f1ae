import type { DatabaseSync } from 'node:sqlite';
import { fail } from '../../../errors/fail.ts';
import type { SchemaChange } from '../../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableSchema, tableOf } from '../../../schema/model.ts';
import { isGuarding, lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { storageOf } from '../../../values/index.ts';
import type { Storage } from '../../../values/type.ts';
import { isActorField } from '../../sql/predicate.ts';
import { quoted as quote } from '../../sql/writer.ts';
import { ftsName } from '../sql/full-text.ts';

const columnTypes: Record<Storage, string> = {
  text: 'TEXT',
  number: 'REAL',
  boolean: 'INTEGER',
  date: 'INTEGER',
  pointer: 'TEXT',
  json: 'TEXT',
  relation: '',
};

/**
 * Carries a schema change out in SQL, inside the caller's transaction.
 * @param before the schema without the change
 * @param after the schema with it (`applyChange`), which names the columns
 * @throws schemaOperation (255) where a table to drop has records
 */
export function applyDdl(db: DatabaseSync, change: SchemaChange, before: Schema, after: Schema): void {
  if (change.kind === 'setTemplateVersion') return;
  const table = after.tables.get(change.className) ?? before.tables.get(change.className);
  if (!table) throw new Error(`table ${change.className} is missing`);
  switch (change.kind) {
    case 'createTable':
      createTable(db, table);
      break;
    case 'dropTable':
      refuseRecords(db, table);
      for (const field of table.fields.values()) if (field.type === 'Relation') dropColumn(db, table, field);
      dropTextIndex(db, table);
      db.exec(`DROP TABLE ${quote(table.sqlName)}`);
      break;
    case 'addField':
      addColumn(db, table, fieldOf(table, change.name));
      break;
    case 'dropField': {
      const old = tableOf(before, change.className);
      const dropped = fieldOf(old, change.name);
      if (old.textIndex.includes(dropped.name)) {
        dropTextIndex(db, old);
        dropColumn(db, old, dropped);
        createTextIndex(db, table);
      } else dropColumn(db, old, dropped);
      break;
    }
    case 'setIndex': {
      dropIndex(db, table, change.index.name);
      const keys = change.index.keys.map(
        ([name, direction]) => `${quote(fieldOf(table, name).column)}${direction < 0 ? ' DESC' : ''}`,
      );
      // Equal values are ordered by objectId, so an index that ends in it serves a sorted page without a sort.
      if (!change.index.keys.some(([name]) => name === 'objectId')) keys.push('"objectId"');
      db.exec(`CREATE INDEX ${quote(userIndex(table, change.index.name))} ON ${quote(table.sqlName)} (${keys.join(', ')})`);
      break;
    }
    case 'dropIndex':
      dropIndex(db, table, change.name);
      break;
    case 'setTextIndex':
      dropTextIndex(db, tableOf(before, change.className));
      createTextIndex(db, table);
      break;
    case 'renameField':
    case 'setPermissions':
    case 'setTimeline':
    case 'setCopied':
      break;
  }
}

/** Asked inside the transaction, so that no record can come in between. @throws schemaOperation (255) */
function refuseRecords(db: DatabaseSync, table: TableSchema): void {
  const count = Number(db.prepare(`SELECT count(*) AS records FROM ${quote(table.sqlName)}`).get()?.records);
  if (count > 0) fail('schemaOperation', `Class ${table.className} is not empty, contains ${count} objects, cannot drop schema.`);
}

function createTable(db: DatabaseSync, table: TableSchema): void {
  const columns = ['"_seq" INTEGER PRIMARY KEY'];
  for (const field of table.fields.values()) {
    if (field.type === 'Relation') continue;
    const required = field.name === 'objectId' || field.name === 'createdAt' || field.name === 'updatedAt';
    columns.push(`${quote(field.column)} ${columnTypes[storageOf(field)]}${required ? ' NOT NULL' : ''}`);
  }
  db.exec(`CREATE TABLE ${quote(table.sqlName)} (${columns.join(', ')})`);
  db.exec(`CREATE UNIQUE INDEX ${quote(`u~${table.sqlName}`)} ON ${quote(table.sqlName)} ("objectId")`);
  db.exec(`CREATE INDEX ${quote(fieldIndex(table, fieldOf(table, 'createdAt')))} ON ${quote(table.sqlName)} ("createdAt")`);
  for (const field of table.fields.values()) {
    if (field.type === 'Relation') createJoinTable(db, field);
    else createFieldIndex(db, table, field);
  }
}

function addColumn(db: DatabaseSync, table: TableSchema, field: Field): void {
  if (field.type === 'Relation') {
    createJoinTable(db, field);
    return;
  }
  db.exec(`ALTER TABLE ${quote(table.sqlName)} ADD COLUMN ${quote(field.column)} ${columnTypes[storageOf(field)]}`);
  createFieldIndex(db, table, field);
}

function createJoinTable(db: DatabaseSync, relation: Field): void {
  const join = quote(relation.column);
  db.exec(`CREATE TABLE ${join} (owner TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (owner, member)) WITHOUT ROWID`);
  db.exec(`CREATE INDEX ${quote(`m~${relation.column}`)} ON ${join} (member, owner)`);
}

/** The index that a field has by its type or its meaning. */
function createFieldIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  if (field.type === 'Pointer') createPointerIndex(db, table, field);
  if (uniqueFieldsOf(table.className).has(field.name)) createUniqueIndex(db, table, field);
  if (lookUpFieldsOf(table.className).has(field.name)) createLookUpIndex(db, table, field);
}

/** Absent values are no duplicates of each other. */
function createUniqueIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  db.exec(`CREATE UNIQUE INDEX ${quote(fieldIndex(table, field))} ON ${quote(table.sqlName)} (${quote(field.column)})`);
}

/** Records with one value lie in it in the order of creation. Nobody asks who has none. */
function createLookUpIndex(db: DatabaseSync, table: TableSchema, field: Field): void {
  const column = quote(field.column);
  db.exec(`CREATE INDEX ${quote(fieldIndex(table, field))} ON ${quote(table.sqlName)} (${column}) WHERE ${column} IS NOT NULL`);
}

/** The delete guard asks "who points here" of every Pointer column but those of history, most of which are empty. */
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
  db.exec(`ALTER TABLE ${quote(table.sqlName)} DROP COLUMN ${quote(field.column)}`);
}

const fieldIndex = (table: TableSchema, field: Field) => `f~${table.sqlName}~${field.column}`;
const userIndex = (table: TableSchema, name: string) => `i~${table.sqlName}~${name}`;

function dropIndex(db: DatabaseSync, table: TableSchema, name: string): void {
  db.exec(`DROP INDEX IF EXISTS ${quote(userIndex(table, name))}`);
}

const ftsTriggers = (table: TableSchema) => ['insert', 'update', 'delete'].map((event) => quote(`${ftsName(table)}~${event}`));

function dropTextIndex(db: DatabaseSync, table: TableSchema): void {
  if (table.textIndex.length === 0) return;
  for (const trigger of ftsTriggers(table)) db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  db.exec(`DROP TABLE IF EXISTS ${quote(ftsName(table))}`);
}

/** Full text over columns that stay in the record table (external content); triggers keep the two in step within the same commit. */
function createTextIndex(db: DatabaseSync, table: TableSchema): void {
  if (table.textIndex.length === 0) return;
  const fts = quote(ftsName(table));
  const source = quote(table.sqlName);
  const columns = table.textIndex.map((name) => quote(fieldOf(table, name).column));
  const list = columns.join(', ');
  const values = (row: 'new' | 'old') => columns.map((column) => `${row}.${column}`).join(', ');
  const add = `INSERT INTO ${fts} (rowid, ${list}) VALUES (new."_seq", ${values('new')});`;
  const remove = `INSERT INTO ${fts} (${fts}, rowid, ${list}) VALUES ('delete', old."_seq", ${values('old')});`;
  const [onInsert, onUpdate, onDelete] = ftsTriggers(table);
  const content = table.sqlName.replaceAll("'", "''");
  db.exec(
    `CREATE VIRTUAL TABLE ${fts} USING fts5(${list}, content='${content}', content_rowid='_seq', tokenize='unicode61 remove_diacritics 2')`,
  );
  db.exec(`INSERT INTO ${fts} (${fts}) VALUES ('rebuild')`);
  db.exec(`CREATE TRIGGER ${onInsert} AFTER INSERT ON ${source} BEGIN ${add} END`);
  db.exec(`CREATE TRIGGER ${onUpdate} AFTER UPDATE OF ${list} ON ${source} BEGIN ${remove} ${add} END`);
  db.exec(`CREATE TRIGGER ${onDelete} AFTER DELETE ON ${source} BEGIN ${remove} END`);
}
