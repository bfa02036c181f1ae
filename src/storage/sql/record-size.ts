import { limits } from '../../kernel/limits.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { type Storage, storageOf } from '../../values/index.ts';
import { columnFields } from '../column-values.ts';
import type { Mutation } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './writer.ts';

type Update = Extract<Mutation, { kind: 'update' }>;

const texts: ReadonlySet<Storage> = new Set(['text', 'json', 'pointer']);

const textFields = (table: TableSchema): Field[] => columnFields(table).filter((field) => texts.has(storageOf(field)));

/** How many bytes the values of a record take; no row where it is not there. */
export function compileSize(table: TableSchema, objectId: string, dialect: Dialect): Statement {
  const out = new SqlWriter(dialect).add('SELECT ');
  writeRecordBytes(out, table, 't');
  out.add(' FROM ').table(table.sqlName).add(' AS t WHERE ').column('t', 'objectId').add(' = ');
  return out.bind(objectId).statement();
}

/**
 * Writes whether a record takes an update: it is not too large afterwards, or no larger than it is. Over the alias `t`, before the update.
 * @param bytes of all that the update sets; it has no edits left
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

/** Writes how many bytes the texts of a record take, over an alias. */
export function writeRecordBytes(out: SqlWriter, table: TableSchema, alias: string): void {
  writeBytes(out, textFields(table), alias);
}

/**
 * Writes how many bytes the texts of some columns take, over an alias. A sum of n terms is n deep, which engines bound; halving makes it
 * log n.
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
