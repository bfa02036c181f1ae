import { fail } from '../../../errors/fail.ts';
import type { SchemaStep } from '../../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableIndex, type TableSchema, tableOf } from '../../../schema/model.ts';
import { SEARCH_INDEX } from '../../../schema/search-index.ts';
import { isLog, lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { storageOf } from '../../../values/index.ts';
import type { Storage } from '../../../values/types/type.ts';
import { isActorField, isRequired, type Statement } from '../../sql/sql-writer.ts';
import type { Session } from '../connection/database.ts';
import { quotedName as quote } from '../sql/names.ts';
import { buildUniqueIndex, dropUniqueIndex, requireValues, uniqueIndexStatements } from './constraints.ts';
import { dropIndex, pendingList, qualified, userIndex } from './index-names.ts';
import { type CopyStatements, retypeTable } from './retype.ts';
import { requireBuilt, searchIndexStatements } from './search-index.ts';
import { fillTextColumns } from './text-index.ts';

const columnTypes: Record<Storage, string> = {
  text: 'text COLLATE "C"',
  number: 'double precision',
  boolean: 'boolean',
  date: 'bigint',
  pointer: 'text COLLATE "C"',
  // json, not jsonb: it keeps the text as written.
  json: 'json',
  relation: '',
};

type TableChange = Exclude<SchemaStep, { kind: 'setTemplateVersion' }>;

/**
 * Executes a step of a schema change in SQL, inside the caller's transaction. Statements that do not depend on data are sent before the first
 * await, so that calls that are not awaited one by one share a round trip.
 * @param before the schema without the change
 * @param after the schema with it (`applyStep`), which names the columns
 * @param isNew whether the table was created in the same transaction and so has no records
 * @throws schemaOperation (255) if a table to drop has records; contradictedIndex (137); recordsLackField (142); unavailable if a search index is not
 * complete
 */
export async function applyDdl(
  session: Session,
  schemaName: string,
  change: SchemaStep,
  before: Schema,
  after: Schema,
  isNew = false,
): Promise<void> {
  const send = (statements: readonly Statement[]) => Promise.all(statements.map((statement) => session.query(statement)));
  if (change.kind === 'retypeField') {
    const [old, table] = [tableOf(before, change.className), tableOf(after, change.className)];
    await retypeTable(session, schemaName, { change, old, table, after }, copyStatements(schemaName, table));
    return;
  }
  if (change.kind === 'dropTable' && !change.withRecords)
    await refuseRecords(session, schemaName, tableOf(before, change.className));
  if (change.kind === 'setUniqueIndex' && !isNew)
    return buildUniqueIndex(session, schemaName, tableOf(after, change.className), change.index);
  if (change.kind === 'completeSearchIndex') await requireBuilt(session, schemaName, tableOf(after, change.className));
  const sent = send(ddlStatements(schemaName, change, before, after));
  await sent;
  if (change.kind === 'addFields' || change.kind === 'setFieldsOptions') {
    if (!isNew) await requireValues(session, schemaName, tableOf(before, change.className), tableOf(after, change.className));
    return;
  }
  if (change.kind !== 'setTextIndex') return;
  const table = tableOf(after, change.className);
  const added = addedText(tableOf(before, change.className), table);
  if (added.length === 0) return;
  if (!isNew) await fillTextColumns(session, schemaName, table, added);
  await send(added.map((field) => textIndex(schemaName, table, field)));
}

const readingKinds: ReadonlySet<SchemaStep['kind']> = new Set(['dropTable', 'setTextIndex', 'setUniqueIndex', 'retypeField']);

/** Whether a change reads existing data; all others are statements that can be pipelined. */
export function readsRecords(step: SchemaStep): boolean {
  if (step.kind === 'addFields') return step.fields.some(({ required }) => required);
  if (step.kind === 'setFieldsOptions') return step.options.values().some(({ required }) => required === true);
  return readingKinds.has(step.kind);
}

/** Returns those statements of a change that do not depend on the records. Pure; see `applyDdl` for the rest. */
export function ddlStatements(schemaName: string, change: SchemaStep, before: Schema, after: Schema): Statement[] {
  if (change.kind === 'setTemplateVersion') return [];
  const table = after.tables.get(change.className) ?? tableOf(before, change.className);
  return sqlOf(schemaName, change, before.tables.get(change.className), table).map((text) => ({ text, params: [] }));
}

function sqlOf(schemaName: string, change: TableChange, old: TableSchema | undefined, table: TableSchema): string[] {
  const alter = `ALTER TABLE ${qualified(schemaName, table.sqlName)}`;
  switch (change.kind) {
    case 'createTable':
      return createTable(schemaName, table);
    case 'dropTable': {
      const joins = [...table.fields.values()].filter(({ type }) => type === 'Relation').map(({ column }) => column);
      return [`DROP TABLE ${[table.sqlName, ...joins].map((name) => qualified(schemaName, name)).join(', ')}`];
    }
    case 'addFields': {
      const fields = change.fields.map(({ name }) => fieldOf(table, name));
      const columns = fields.filter(({ type }) => type !== 'Relation').map((field) => `ADD COLUMN ${column(field)}`);
      return [
        ...(columns.length > 0 ? [`${alter} ${columns.join(', ')}`] : []),
        ...fields.flatMap((field) => fieldParts(schemaName, table, field)),
      ];
    }
    case 'dropFields': {
      const before = old ?? table;
      const fields = change.names.map((name) => fieldOf(before, name));
      const joins = fields.filter(({ type }) => type === 'Relation').map(({ column }) => qualified(schemaName, column));
      // Their indexes are dropped with them.
      const columns = fields.flatMap(({ type, column }) => (type === 'Relation' ? [] : [column]));
      const words = fields.filter(({ name }) => before.textIndex.includes(name)).map(textColumn);
      const dropped = [...columns, ...words].map((name) => `DROP COLUMN ${quote(name)}`);
      const unique = before.uniqueIndexes.values().filter((index) => change.names.some((name) => index.fields.includes(name)));
      return [
        // Those of several fields would stay.
        ...unique.map(({ name }) => dropUniqueIndex(schemaName, before, name)),
        ...(joins.length > 0 ? [`DROP TABLE ${joins.join(', ')}`] : []),
        ...(dropped.length > 0 ? [`${alter} ${dropped.join(', ')}`] : []),
      ];
    }
    case 'setIndex':
      return indexStatements(schemaName, table, change.index);
    case 'dropIndex':
      return [dropIndex(schemaName, table, change.name)];
    case 'setTextIndex': {
      const before = old ?? table;
      const removed = before.textIndex.filter((name) => !table.textIndex.includes(name));
      const actions = [
        ...removed.map((name) => `DROP COLUMN ${quote(textColumn(fieldOf(before, name)))}`),
        ...addedText(before, table).map((field) => `ADD COLUMN ${quote(textColumn(field))} tsvector`),
      ];
      return actions.length === 0 ? [] : [`${alter} ${actions.join(', ')}`];
    }
    case 'setUniqueIndex':
      return uniqueIndexStatements(schemaName, table, change.index);
    case 'dropUniqueIndex':
      return [dropUniqueIndex(schemaName, table, change.name)];
    case 'completeSearchIndex':
    case 'retypeField':
    case 'renameFields':
    case 'setFieldsOptions':
    case 'setPermissions':
    case 'setTimeline':
    case 'setCopied':
    case 'setFormerNames':
      return [];
  }
}

function indexStatements(schemaName: string, table: TableSchema, index: TableIndex): string[] {
  if (index.name === SEARCH_INDEX) return searchIndexStatements(schemaName, table, index);
  return [
    dropIndex(schemaName, table, index.name),
    `CREATE INDEX ${quote(userIndex(table, index.name))} ON ${qualified(schemaName, table.sqlName)} (${keysOf(table, index)})`,
  ];
}

const fieldIndex = (table: TableSchema, field: Field) => `f~${table.sqlName}~${field.column}`;
const keyIndex = (table: TableSchema) => `u~${table.sqlName}`;

/** Returns the name of the companion column that holds the words of a field's text (`Dialect.companion`). */
export const textColumn = (field: Field): string => `v~${field.column}`;

/**
 * Returns the field whose unique index was violated; `undefined` if the index is not one of the table's.
 * @param constraint as named by the database's error
 */
export function fieldOfConstraint(table: TableSchema, constraint: string): Field | undefined {
  const name = quote(constraint);
  if (name === quote(keyIndex(table))) return fieldOf(table, 'objectId');
  return table.fields.values().find((field) => name === quote(fieldIndex(table, field)));
}

/**
 * Refuses to drop a table that has records. Counts twice: before locking, so that the lock is not held while a large table is counted, and with the
 * table locked, so that no record can be added in between. @throws schemaOperation (255)
 */
async function refuseRecords(session: Session, schemaName: string, table: TableSchema): Promise<void> {
  const name = qualified(schemaName, table.sqlName);
  const count = async () => {
    const { rows } = await session.query({ text: `SELECT count(*) FROM ${name}`, params: [] });
    const records = Number(rows[0]?.[0]);
    if (records > 0)
      fail('schemaOperation', `Class ${table.className} is not empty, contains ${records} objects, cannot drop schema.`);
  };
  await count();
  await session.query({ text: `LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`, params: [] });
  await count();
}

const column = (field: Field) => `${quote(field.column)} ${columnTypes[storageOf(field)]}${isRequired(field) ? ' NOT NULL' : ''}`;

/** All constraints and indexes are named explicitly: a generated name could be that of another table. */
function createTable(schemaName: string, table: TableSchema): string[] {
  const name = qualified(schemaName, table.sqlName);
  const fields = [...table.fields.values()];
  return [
    `CREATE TABLE ${name} (${[...columnsOf(schemaName, table), ...keyConstraints(table)].join(', ')})`,
    `CREATE INDEX ${quote(fieldIndex(table, fieldOf(table, 'createdAt')))} ON ${name} ("createdAt")`,
    ...fields.flatMap((field) => fieldParts(schemaName, table, field)),
  ];
}

function columnsOf(schemaName: string, { sqlName, fields }: TableSchema): string[] {
  const places = `"_seq" bigint GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME ${qualified(schemaName, `s~${sqlName}`)})`;
  return [places, ...[...fields.values()].filter(({ type }) => type !== 'Relation').map(column)];
}

const keyConstraints = (table: TableSchema): string[] => [
  `CONSTRAINT ${quote(keyIndex(table))} PRIMARY KEY ("objectId")`,
  `CONSTRAINT ${quote(`q~${table.sqlName}`)} UNIQUE ("_seq")`,
];

/** Returns the statements that make a copy of a table, without unique indexes and the search index. The tables of its Relations stay. */
function copyStatements(schemaName: string, table: TableSchema): CopyStatements {
  const fields = new Map([...table.fields].filter(([, { type }]) => type !== 'Relation'));
  const [, ...fieldIndexes] = createTable(schemaName, { ...table, fields });
  const name = qualified(schemaName, table.sqlName);
  const texts = table.textIndex.map((field) => fieldOf(table, field));
  const companions = texts.map(textColumn);
  const words = companions.map((companion) => `${quote(companion)} tsvector`);
  return {
    create: [`CREATE TABLE ${name} (${[...columnsOf(schemaName, table), ...words].join(', ')})`],
    indexes: [
      ...keyConstraints(table).map((constraint) => `ALTER TABLE ${name} ADD ${constraint}`),
      ...fieldIndexes,
      ...[...table.indexes.values()]
        .filter(({ name: index }) => index !== SEARCH_INDEX)
        .flatMap((index) => indexStatements(schemaName, table, index)),
      ...texts.map((field) => textIndex(schemaName, table, field).text),
    ],
    companions,
  };
}

/** Returns the statements for what a field needs beside its column. */
const fieldParts = (schemaName: string, table: TableSchema, field: Field): string[] =>
  field.type === 'Relation' ? createJoinTable(schemaName, field) : fieldIndexes(schemaName, table, field);

function createJoinTable(schemaName: string, relation: Field): string[] {
  const join = qualified(schemaName, relation.column);
  const id = columnTypes.text;
  return [
    `CREATE TABLE ${join} (owner ${id}, member ${id}, CONSTRAINT ${quote(`p~${relation.column}`)} PRIMARY KEY (owner, member))`,
    `CREATE INDEX ${quote(`m~${relation.column}`)} ON ${join} (member, owner)`,
  ];
}

/** Returns the indexes that a field has by its type and role. They exclude values that are never looked up. */
function fieldIndexes(schemaName: string, table: TableSchema, field: Field): string[] {
  const name = quote(fieldIndex(table, field));
  const on = qualified(schemaName, table.sqlName);
  const value = quote(field.column);
  // NULLs count as distinct, so absent values do not conflict.
  if (uniqueFieldsOf(table.className).has(field.name)) return [`CREATE UNIQUE INDEX ${name} ON ${on} (${value})`];
  // The record created first comes first in the index.
  if (lookUpFieldsOf(table.className).has(field.name))
    return [`CREATE INDEX ${name} ON ${on} (${value}, "_seq") WHERE ${value} IS NOT NULL`];
  // The check before a delete looks up references in every Pointer column.
  if (field.type === 'Pointer') {
    const condition = isActorField(field) ? `${value} <> 'master'` : `${value} IS NOT NULL`;
    return [`CREATE INDEX ${name} ON ${on} (${value}) WHERE ${condition}`];
  }
  // Not for logs: they get a row for each write, and are queried by other fields.
  if ((field.type === 'Array' || field.type === 'Object') && !isLog(table.className))
    return [
      `CREATE INDEX ${name} ON ${on} USING gin ((${value}::jsonb) jsonb_path_ops) ${pendingList} WHERE ${value} IS NOT NULL`,
    ];
  return [];
}

/**
 * Key columns in the order of ORDER BY (storage/sql/select.ts). Equal values are ordered by objectId, so an index that ends in it serves a sorted
 * page without a sort.
 */
function keysOf(table: TableSchema, index: TableIndex): string {
  const keys = index.keys.map(([name, direction]) => {
    const field = fieldOf(table, name);
    // Order of nulls as in queries (`writeOrder`): an index serves only its exact order or the reverse.
    const nulls = isRequired(field) ? '' : direction < 0 ? ' NULLS LAST' : ' NULLS FIRST';
    return `${quote(field.column)}${direction < 0 ? ' DESC' : ''}${nulls}`;
  });
  if (!index.keys.some(([name]) => name === 'objectId')) keys.push('"objectId"');
  return keys.join(', ');
}

const addedText = (before: TableSchema, after: TableSchema): Field[] =>
  after.textIndex.filter((name) => !before.textIndex.includes(name)).map((name) => fieldOf(after, name));

function textIndex(schemaName: string, table: TableSchema, field: Field): Statement {
  const text = `CREATE INDEX ${quote(`v~${table.sqlName}~${field.column}`)} ON ${qualified(schemaName, table.sqlName)} USING gin (${quote(textColumn(field))}) ${pendingList}`;
  return { text, params: [] };
}
