import type { DatabaseSync } from 'node:sqlite';
import { emptySchema, type SchemaStep, schemaOf, takesAway } from '../../../schema/change.ts';
import {
  type Field,
  type FieldType,
  fieldOf,
  hasOptions,
  optionsOf,
  type Schema,
  type TableIndex,
  type TableSchema,
  tableOf,
  type UniqueIndex,
} from '../../../schema/model.ts';
import { withSharedParts } from '../../../schema/shared-parts.ts';
import { versionsOf } from '../../migrations.ts';
import { levelOf, saveReached } from './levels.ts';

/** Returns the number of schema changes so far. */
export function catalogVersion(db: DatabaseSync): number {
  return db.prepare('SELECT changes FROM rds_catalog').get()?.changes as number;
}

/** Counts a schema change without making one: the smallest possible write, of one page. @returns the count */
export function touchCatalog(db: DatabaseSync): number {
  return db.prepare('UPDATE rds_catalog SET changes = changes + 1 RETURNING changes').get()?.changes as number;
}

/** Reads the number of removals from the schema so far. A read planned before a removal must be planned again; other changes do not invalidate it. */
export const removalsQuery = { text: 'SELECT removals FROM rds_catalog', params: [] } as const;

/** Reads the whole schema. Record tables start with `t_`, so their names cannot collide with our own tables (migrations.ts). */
export function loadSchema(db: DatabaseSync): Schema {
  const fields = new Map<string, Map<string, Field>>();
  for (const row of db.prepare('SELECT * FROM rds_fields ORDER BY className, position').all()) {
    const field: Field = {
      name: row.name as string,
      type: row.type as FieldType,
      column: row.columnName as string,
      ...(row.targetClass === null ? {} : { targetClass: row.targetClass as string }),
      ...(row.options !== null && JSON.parse(row.options as string)),
    };
    const className = row.className as string;
    const known = fields.get(className) ?? new Map<string, Field>();
    fields.set(className, known.set(field.name, field));
  }
  const tables = new Map<string, TableSchema>();
  for (const row of db.prepare('SELECT * FROM rds_tables ORDER BY position').all()) {
    const className = row.className as string;
    const table: TableSchema = {
      className,
      sqlName: row.sqlName as string,
      fields: fields.get(className) ?? new Map(),
      permissions: JSON.parse(row.permissions as string),
      indexes: new Map((JSON.parse(row.indexes as string) as TableIndex[]).map((index) => [index.name, index])),
      uniqueIndexes: new Map((JSON.parse(row.uniqueIndexes as string) as UniqueIndex[]).map((index) => [index.name, index])),
      textIndex: JSON.parse(row.textIndex as string),
      formerNames: new Map(JSON.parse(row.formerNames as string)),
      loggedNames: new Map(JSON.parse(row.loggedNames as string)),
      ...(row.timeline === null ? {} : { timeline: JSON.parse(row.timeline as string) }),
      ...(row.isCopied === 1 && { isCopied: true }),
    };
    tables.set(className, withSharedParts(table));
  }
  const stored = db.prepare('SELECT templateVersion FROM rds_catalog').get()?.templateVersion as number;
  return schemaOf({ version: emptySchema.version + 1, ...versionsOf(levelOf(db, 'system', stored)), tables });
}

/** Saves the result of a step, inside the caller's transaction. */
export function saveStep(db: DatabaseSync, change: SchemaStep, before: Schema, after: Schema): void {
  db.exec(`UPDATE rds_catalog SET changes = changes + 1, removals = removals + ${takesAway(change) ? 1 : 0}`);
  if (change.kind === 'setTemplateVersion') {
    const { templateVersion = 0, requiredVersion = templateVersion } = after;
    // Where versions before levels look.
    db.prepare('UPDATE rds_catalog SET templateVersion = ?').run(requiredVersion);
    saveReached(db, 'system', templateVersion);
    return;
  }
  const table = after.tables.get(change.className);
  if (!table) {
    db.prepare('DELETE FROM rds_tables WHERE className = ?').run(change.className);
    db.prepare('DELETE FROM rds_fields WHERE className = ?').run(change.className);
    return;
  }
  if (change.kind === 'renameFields' || change.kind === 'retypeField') saveAllFields(db, table);
  if (change.kind === 'dropFields') {
    const removed = db.prepare('DELETE FROM rds_fields WHERE className = ? AND name = ?');
    for (const name of change.names) removed.run(change.className, name);
  }
  if (change.kind === 'setFieldsOptions') {
    const changed = db.prepare('UPDATE rds_fields SET options = ? WHERE className = ? AND name = ?');
    for (const name of change.options.keys()) changed.run(storedOptions(fieldOf(table, name)), change.className, name);
  }
  if (change.kind === 'addFields') {
    saveFields(
      db,
      table,
      change.fields.map(({ name }) => name),
    );
    // The fields may have freed former names.
    if (tableOf(before, change.className).formerNames === table.formerNames) return;
  }
  saveTable(db, table);
  if (change.kind === 'createTable') saveFields(db, table, [...table.fields.keys()]);
}

function saveTable(db: DatabaseSync, table: TableSchema): void {
  db.prepare(
    `INSERT INTO rds_tables
       (className, sqlName, permissions, timeline, isCopied, indexes, uniqueIndexes, textIndex, formerNames, loggedNames)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (className) DO UPDATE SET sqlName = excluded.sqlName,
       permissions = excluded.permissions, timeline = excluded.timeline, isCopied = excluded.isCopied,
       indexes = excluded.indexes, uniqueIndexes = excluded.uniqueIndexes, textIndex = excluded.textIndex,
       formerNames = excluded.formerNames, loggedNames = excluded.loggedNames`,
  ).run(
    table.className,
    table.sqlName,
    JSON.stringify(table.permissions),
    table.timeline ? JSON.stringify(table.timeline) : null,
    table.isCopied ? 1 : 0,
    JSON.stringify([...table.indexes.values()]),
    JSON.stringify([...table.uniqueIndexes.values()]),
    JSON.stringify(table.textIndex),
    JSON.stringify([...table.formerNames]),
    JSON.stringify([...table.loggedNames]),
  );
}

/** Writes the fields of a table anew, in their order. */
function saveAllFields(db: DatabaseSync, table: TableSchema): void {
  db.prepare('DELETE FROM rds_fields WHERE className = ?').run(table.className);
  saveFields(db, table, [...table.fields.keys()]);
}

function saveFields(db: DatabaseSync, table: TableSchema, names: readonly string[]): void {
  const last = db
    .prepare('SELECT coalesce(max(position), 0) AS position FROM rds_fields WHERE className = ?')
    .get(table.className);
  let position = last?.position as number;
  const added = db.prepare(
    'INSERT INTO rds_fields (className, position, name, type, targetClass, columnName, options) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const name of names) {
    const field = fieldOf(table, name);
    added.run(table.className, ++position, field.name, field.type, field.targetClass ?? null, field.column, storedOptions(field));
  }
}

const storedOptions = (field: Field): string | null => (hasOptions(field) ? JSON.stringify(optionsOf(field)) : null);
