import { emptySchema, type SchemaChange, schemaOf } from '../../../schema/change.ts';
import {
  type Field,
  type FieldOptions,
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
import { type Level, storedLevel, versionsOf } from '../../migrations.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from '../connection/database.ts';
import { quotedName } from '../sql/names.ts';
import { reachedSql, saveReached } from './levels.ts';

/** A system's schema as stored in its catalogue at one moment. */
export interface Catalog {
  readonly schema: Schema;
  /** Version: the number of changes so far. Equal numbers mean equal schemas. */
  readonly changes: number;
  /** How far the catalogue's own tables are migrated (migrations.ts). */
  readonly level: Level;
}

/** Tables of the service inside a system's PostgreSQL schema. Record tables start with `t_`, so names never clash. */
const own = (schemaName: string, table: string) => `${quotedName(schemaName)}.${table}`;

/** The table of one row that counts the changes of the schema. */
export const catalogTable = (schemaName: string): string => own(schemaName, 'rds_catalog');

/** Returns a SELECT of the schema version, to check whether it is still the one that a read was planned under. */
export function catalogVersionSql(schemaName: string): string {
  return `SELECT changes FROM ${catalogTable(schemaName)}`;
}

/** Locks the catalogue's row, so that no other transaction changes the schema. Returns the schema version. */
export function lockCatalog(schemaName: string): Statement {
  return { text: `${catalogVersionSql(schemaName)} FOR UPDATE`, params: [] };
}

/** Returns the statements that create the first version of the catalogue. Later versions are migrations. */
export function catalogStatements(schemaName: string): Statement[] {
  const [catalog, tables, fields] = [catalogTable(schemaName), own(schemaName, 'rds_tables'), own(schemaName, 'rds_fields')];
  const text = 'text COLLATE "C"';
  return [
    `CREATE TABLE IF NOT EXISTS ${tables} (
      "className" ${text} PRIMARY KEY, position integer NOT NULL, "sqlName" ${text} NOT NULL,
      permissions json NOT NULL, timeline json, indexes json NOT NULL, "textIndex" json NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${fields} (
      "className" ${text}, position integer NOT NULL, name ${text}, type ${text} NOT NULL, "targetClass" ${text},
      "columnName" ${text} NOT NULL, PRIMARY KEY ("className", name)
    )`,
    `CREATE TABLE IF NOT EXISTS ${catalog} (
      one integer PRIMARY KEY CHECK (one = 1), changes bigint NOT NULL, "templateVersion" integer NOT NULL
    )`,
    // Start from the clock: a system recreated under the same id has a higher version than its predecessor, so its schema is never mistaken for the
    // old one.
    `INSERT INTO ${catalog} (one, changes, "templateVersion")
      VALUES (1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0) ON CONFLICT DO NOTHING`,
  ].map((sql) => ({ text: sql, params: [] }));
}

/** Reads the whole catalogue in one snapshot, as one row for `catalogFrom`. */
export function loadStatement(schemaName: string): Statement {
  const tables = `SELECT json_agg(json_build_array("className", "sqlName", permissions, timeline, indexes, "textIndex", "isCopied", "uniqueIndexes",
      "formerNames", "loggedNames") ORDER BY position)
    FROM ${own(schemaName, 'rds_tables')}`;
  const fields = `SELECT json_agg(json_build_array("className", name, type, "targetClass", "columnName", options) ORDER BY "className", position)
    FROM ${own(schemaName, 'rds_fields')}`;
  const migration = `SELECT max(number) FROM ${own(schemaName, 'rds_migrations')}`;
  const levels = `(${migration}), (${reachedSql(schemaName, 'engine')}), "templateVersion", (${reachedSql(schemaName, 'system')})`;
  const text = `SELECT changes, ${levels}, (${tables}), (${fields}) FROM ${catalogTable(schemaName)}`;
  return { text, params: [] };
}

type StoredTable = [
  string,
  string,
  TableSchema['permissions'],
  TableSchema['timeline'] | null,
  TableIndex[],
  string[],
  boolean,
  UniqueIndex[],
  [string, string][],
  [string, readonly string[]][],
];
type StoredField = [string, string, Field['type'], string | null, string, FieldOptions | null];

/** Adds a flag of tables that the first versions of the catalogue lack. */
export function copiedStatements(schemaName: string): Statement[] {
  const tables = own(schemaName, 'rds_tables');
  return [
    `ALTER TABLE ${tables} ADD COLUMN "isCopied" boolean NOT NULL DEFAULT false`,
    `UPDATE ${tables} SET "isCopied" = true WHERE timeline IS NOT NULL AND timeline::text <> 'null'`,
  ].map((text) => ({ text, params: [] }));
}

/** Adds what tables require of their records, which the first versions of the catalogue lack. */
export function constraintStatements(schemaName: string): Statement[] {
  return [
    `ALTER TABLE ${own(schemaName, 'rds_fields')} ADD COLUMN options json`,
    `ALTER TABLE ${own(schemaName, 'rds_tables')} ADD COLUMN "uniqueIndexes" json NOT NULL DEFAULT '[]'`,
  ].map((text) => ({ text, params: [] }));
}

/** Adds the former names of fields, which the first versions of the catalogue lack. */
export function formerNamesStatements(schemaName: string): Statement[] {
  const column = (name: string) => `ADD COLUMN "${name}" json NOT NULL DEFAULT '[]'`;
  const text = `ALTER TABLE ${own(schemaName, 'rds_tables')} ${column('formerNames')}, ${column('loggedNames')}`;
  return [{ text, params: [] }];
}

/** Builds the catalogue from the rows of `loadStatement`. */
export function catalogFrom(rows: readonly Row[]): Catalog {
  const [row] = rows;
  if (!row) throw new Error('the catalogue has no row');
  const [changes, migration, additive, template, additiveTemplate, tables, fields] = row as CatalogRow;
  const fieldsOf = readFields(list<StoredField>(fields));
  const read = new Map(list<StoredTable>(tables).map((table) => [table[0], withSharedParts(readTable(table, fieldsOf))]));
  const versions = versionsOf(storedLevel(template, additiveTemplate));
  const schema = schemaOf({ version: emptySchema.version + 1, ...versions, tables: read });
  return { schema, changes, level: storedLevel(migration, additive) };
}

/** Columns of `loadStatement`. */
type CatalogRow = [number, number, number | null, number, number | null, ...unknown[]];

const list = <T>(text: unknown): T[] => (text === null ? [] : JSON.parse(text as string));

function readFields(stored: readonly StoredField[]): Map<string, Map<string, Field>> {
  const fields = new Map<string, Map<string, Field>>();
  for (const [className, name, type, targetClass, column, options] of stored) {
    const known = fields.get(className) ?? new Map<string, Field>();
    fields.set(className, known.set(name, { name, type, column, ...(targetClass === null ? {} : { targetClass }), ...options }));
  }
  return fields;
}

function readTable(stored: StoredTable, fields: ReadonlyMap<string, ReadonlyMap<string, Field>>): TableSchema {
  const [className, sqlName, permissions, timeline, indexes, textIndex, isCopied, uniqueIndexes, formerNames, loggedNames] =
    stored;
  return {
    className,
    sqlName,
    fields: fields.get(className) ?? new Map(),
    permissions,
    indexes: new Map(indexes.map((index) => [index.name, index])),
    uniqueIndexes: new Map(uniqueIndexes.map((index) => [index.name, index])),
    textIndex,
    formerNames: new Map(formerNames),
    loggedNames: new Map(loggedNames),
    ...(timeline === null || timeline === undefined ? {} : { timeline }),
    ...(isCopied && { isCopied }),
  };
}

/** Net effect of several changes on what is stored. */
interface Net {
  readonly droppedTables: Set<string>;
  readonly droppedFields: Map<string, readonly [className: string, name: string]>;
  /** Tables whose fields are written anew, in their order. */
  readonly rewritten: Set<string>;
  readonly tables: Set<string>;
  /** Names of new fields by class; `all` if the table is new. */
  readonly fields: Map<string, Set<string> | 'all'>;
  /** Fields whose options changed. They may be new, or dropped by a later change. */
  readonly options: Map<string, readonly [className: string, name: string]>;
}

function netOf(changes: readonly SchemaChange[], before: Schema): Net {
  const hadFormerNames = (className: string) => (before.tables.get(className)?.formerNames.size ?? 0) > 0;
  const net: Net = {
    droppedTables: new Set(),
    droppedFields: new Map(),
    rewritten: new Set(),
    tables: new Set(),
    fields: new Map(),
    options: new Map(),
  };
  for (const change of changes) {
    if (change.kind === 'setTemplateVersion') continue;
    const { className, kind } = change;
    // Added fields may free former names.
    if (kind !== 'dropTable' && (kind !== 'addField' || hadFormerNames(className))) net.tables.add(className);
    const fields = net.fields.get(className);
    if (kind === 'createTable') net.fields.set(className, 'all');
    else if (kind === 'dropTable') {
      net.droppedTables.add(className);
      net.tables.delete(className);
      net.fields.delete(className);
      net.rewritten.delete(className);
    } else if (fields === 'all') continue;
    else if (kind === 'renameField' || kind === 'retypeField') {
      net.rewritten.add(className);
      net.fields.set(className, 'all');
    } else if (kind === 'setFieldOptions') net.options.set(JSON.stringify([className, change.name]), [className, change.name]);
    else if (kind === 'addField') net.fields.set(className, (fields ?? new Set()).add(change.name));
    else if (kind === 'dropField') {
      net.droppedFields.set(JSON.stringify([className, change.name]), [className, change.name]);
      fields?.delete(change.name);
    }
  }
  return net;
}

/**
 * Returns the statements that store several changes; their number does not grow with that of the changes. For the transaction that has locked the
 * catalogue. The schema version grows by one; the first statement returns it.
 * @param before the schema before all changes
 * @param after the schema after all changes
 */
export function saveStatements(schemaName: string, changes: readonly SchemaChange[], before: Schema, after: Schema): Statement[] {
  if (changes.length === 0) return [];
  const net = netOf(changes, before);
  const statements: Statement[] = [
    {
      text: `UPDATE ${catalogTable(schemaName)} SET changes = changes + 1, "templateVersion" = $1::integer RETURNING changes`,
      // Where versions before levels look.
      params: [after.requiredVersion ?? after.templateVersion ?? 0],
    },
  ];
  if (changes.some(({ kind }) => kind === 'setTemplateVersion'))
    statements.push(saveReached(schemaName, 'system', after.templateVersion ?? 0));
  const add = (text: string, values: readonly unknown[]) => {
    if (values.length > 0) statements.push({ text, params: [JSON.stringify(values)] });
  };
  const [tables, fields] = [own(schemaName, 'rds_tables'), own(schemaName, 'rds_fields')];
  const dropped = [...net.droppedTables];
  for (const [table, classes] of [
    [tables, dropped],
    [fields, [...dropped, ...net.rewritten]],
  ] as const)
    add(`DELETE FROM ${table} WHERE "className" IN (SELECT json_array_elements_text($1::json))`, classes);
  add(`DELETE FROM ${fields} WHERE ("className", name) IN (SELECT e ->> 0, e ->> 1 FROM json_array_elements($1::json) AS e)`, [
    ...net.droppedFields.values(),
  ]);
  add(
    `INSERT INTO ${tables} ("className", position, "sqlName", permissions, timeline, indexes, "textIndex", "isCopied", "uniqueIndexes",
       "formerNames", "loggedNames")
     SELECT e ->> 0, n + (SELECT coalesce(max(position), 0) FROM ${tables}), e ->> 1, e -> 2, (e ->> 3)::json, e -> 4, e -> 5,
       (e ->> 6)::boolean, e -> 7, e -> 8, e -> 9
     FROM json_array_elements($1::json) WITH ORDINALITY AS r(e, n)
     ON CONFLICT ("className") DO UPDATE SET "sqlName" = excluded."sqlName", permissions = excluded.permissions, timeline = excluded.timeline,
       indexes = excluded.indexes, "textIndex" = excluded."textIndex", "isCopied" = excluded."isCopied",
       "uniqueIndexes" = excluded."uniqueIndexes", "formerNames" = excluded."formerNames", "loggedNames" = excluded."loggedNames"`,
    Array.from(net.tables, (className) => storedTable(tableOf(after, className))),
  );
  add(
    `INSERT INTO ${fields} ("className", position, name, type, "targetClass", "columnName", options)
     SELECT e ->> 0, n + (SELECT coalesce(max(position), 0) FROM ${fields} AS f WHERE f."className" = e ->> 0),
       e ->> 1, e ->> 2, e ->> 3, e ->> 4, (e ->> 5)::json
     FROM json_array_elements($1::json) WITH ORDINALITY AS r(e, n)`,
    [...net.fields].flatMap(([className, names]) => {
      const table = tableOf(after, className);
      return Array.from(names === 'all' ? table.fields.keys() : names, (name) => storedField(table, name));
    }),
  );
  add(
    `UPDATE ${fields} AS f SET options = (e ->> 2)::json FROM json_array_elements($1::json) AS e
     WHERE f."className" = e ->> 0 AND f.name = e ->> 1`,
    [...net.options.values()].flatMap(([className, name]) => {
      const field = after.tables.get(className)?.fields.get(name);
      return field ? [[className, name, storedOptions(field)]] : [];
    }),
  );
  return statements;
}

function storedTable(table: TableSchema): StoredTable {
  const { className, sqlName, permissions, timeline = null, indexes, uniqueIndexes, textIndex, isCopied = false } = table;
  const { formerNames, loggedNames } = table;
  return [
    className,
    sqlName,
    permissions,
    timeline,
    [...indexes.values()],
    [...textIndex],
    isCopied,
    [...uniqueIndexes.values()],
    [...formerNames],
    [...loggedNames],
  ];
}

function storedField(table: TableSchema, name: string): StoredField {
  const field = fieldOf(table, name);
  const { type, targetClass = null, column } = field;
  return [table.className, name, type, targetClass, column, storedOptions(field)];
}

const storedOptions = (field: Field): FieldOptions | null => (hasOptions(field) ? optionsOf(field) : null);
