import { limits } from '../../kernel/limits.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { type Storage, storageOf } from '../../values/index.ts';
import { columnFields } from '../column-values.ts';
import type { Mutation } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './sql-writer.ts';

type Update = Extract<Mutation, { kind: 'update' }>;

const texts: ReadonlySet<Storage> = new Set(['text', 'json', 'pointer']);

const textFields = (table: TableSchema): Field[] => columnFields(table).filter((field) => texts.has(storageOf(field)));

/** Compiles a read of a record's size in bytes; it returns no row if the record does not exist. */
export function compileSize(table: TableSchema, objectId: string, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT ');
  writeRecordBytes(out, table, 't');
  out.add(' FROM ').table(table.sqlName).add(' AS t WHERE ').column('t', 'objectId').add(' = ');
  return out.bind(objectId).statement();
}

/**
 * Writes whether a record accepts an update: afterwards it is within the size limit, or no larger than before. Under the alias `t`, evaluated before
 * the update. Reference: records.md#size-of-a-record.
 * @param bytes of all that the update sets; edits have been resolved to values
 */
export function writeFits(out: SqlWriter, { table, assignments }: Update, bytes: number): void {
  const set = new Set(assignments.map(({ field }) => field.column));
  const fields = textFields(table);
  writeBytes(
    out.add('('),
    fields.filter(({ column }) => !set.has(column)),
    't',
  );
  out.add(` <= ${limits.recordBytes - bytes} OR `);
  writeBytes(
    out,
    fields.filter(({ column }) => set.has(column)),
    't',
  );
  out.add(` >= ${bytes})`);
}

/** Writes the byte length of a record's texts, under an alias. */
export function writeRecordBytes(out: SqlWriter, table: TableSchema, alias: string): void {
  writeBytes(out, textFields(table), alias);
}

/**
 * Writes the byte length of the texts of some columns, under an alias. Engines limit the depth of expressions; a sum of n terms has depth n, and
 * halving it gives log n.
 */
export function writeBytes(out: SqlWriter, fields: readonly Field[], alias: string): void {
  const [first, second] = fields;
  if (!first) {
    out.add('0');
    return;
  }
  if (!second) {
    out.dialect.byteLength(out.add('coalesce('), alias, first);
    out.add(', 0)');
    return;
  }
  const half = fields.length >> 1;
  writeBytes(out.add('('), fields.slice(0, half), alias);
  writeBytes(out.add(' + '), fields.slice(half), alias);
  out.add(')');
}
