import type { Mask, Masks } from '../../access/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type Field, fieldOf, type TableSchema } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import { writeGuard } from './row-security.ts';
import type { SqlWriter } from './sql-writer.ts';
import { writeRecordOf } from './subject-visibility.ts';

/** Returns the values that the caller's guard, at the top of a filter (`guardedFilter`), masks. */
function masksOf(filter: Filter): Masks | undefined {
  if (filter.kind === 'guard') return filter.masks;
  if (filter.kind !== 'and') return undefined;
  for (const item of filter.items) {
    const masks = masksOf(item);
    if (masks) return masks;
  }
  return undefined;
}

/**
 * Writes the row source of a read, as it stands after FROM: the table, or its rows as the caller sees them. Databases merge the latter with the rest
 * of the query. So no condition, order or sum can reveal what is hidden.
 * @param filter of the read, with the caller's guard at its top
 */
export function writeSource(out: SqlWriter, table: TableSchema, filter: Filter, alias: string): void {
  const masks = masksOf(filter);
  if (!masks) {
    out.table(table.sqlName).add(` AS ${alias}`);
    return;
  }
  const inner = out.newAlias();
  out.add('(SELECT ').column(inner, '_seq');
  for (const field of table.fields.values()) {
    if (storageOf(field) === 'relation') continue;
    const mask = masks.get(field.name);
    if (mask) writeMasked(out.add(', '), mask, field, table, inner);
    else out.add(', ').column(inner, field.column);
    const companion = mask ? null : out.dialect.companion(table, field);
    if (companion) out.add(', ').column(inner, companion.column);
  }
  out.add(' FROM ').table(table.sqlName).add(` AS ${inner}) AS ${alias}`);
}

function writeMasked(out: SqlWriter, mask: Mask, field: Field, table: TableSchema, alias: string): void {
  out.add('CASE');
  if (mask.rows) {
    out.joining(false, () => writeGuard(out.add(' WHEN '), mask.rows ?? never, table, alias));
    out.add(' IS NOT TRUE THEN NULL');
  }
  if (mask.kind === 'values') writeValues(out, mask, field, table, alias);
  out.add(' ELSE ').column(alias, field.column).add(' END AS ').name(field.column);
}

const never = { kind: 'any', guards: [] } as const;

/** Writes a CASE branch per table that hides some fields. */
function writeValues(
  out: SqlWriter,
  { names, of }: Extract<Mask, { kind: 'values' }>,
  field: Field,
  table: TableSchema,
  alias: string,
): void {
  const storage = storageOf(field) === 'json' ? 'json' : 'text';
  for (const readable of of.tables.values()) {
    if (readable.hidden.size === 0) continue;
    out
      .add(' WHEN ')
      .column(alias, fieldOf(table, names.className).column)
      .add(' = ')
      .bind(readable.table.className)
      .add(' THEN ');
    const hidden = [...readable.hidden].map(([name, visibleIn]) => () => {
      if (!visibleIn) {
        out.bind(name);
        return;
      }
      out.add('CASE WHEN ');
      writeRecordOf(out, readable.table, visibleIn, () => out.column(alias, fieldOf(table, names.objectId).column), writeGuard);
      out.add(' THEN NULL ELSE ').bind(name).add(' END');
    });
    out.joining(false, () => out.dialect.without(out, alias, field.column, storage, hidden));
  }
}
