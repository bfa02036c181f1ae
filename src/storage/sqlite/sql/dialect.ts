import { storageOf } from '../../../values/index.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { writeJsonHas, writeJsonHasOrdered, writeJsonPointsInto, writeWireTexts } from './elements.ts';
import { writeSearch, writeSearchScore } from './full-text.ts';
import { writeAmong, writeJsonCompare, writeJsonExists, writeJsonMatches, writeJsonOrder } from './json.ts';
import { writeTextMatch } from './regex.ts';

/** SQL as SQLite has it. Values that it cannot compute itself come from functions of ours, `rds_...` (functions.ts). */
export const sqliteDialect: Dialect = {
  placeholder: () => '?',
  toColumn: (_storage, value) => (typeof value === 'boolean' ? Number(value) : value),
  nulls: () => '',
  mayGoOn(out, alias) {
    // Calls from SQL into JavaScript cost more than the row; one in 1,024 does.
    out.add('((').column(alias, '_seq').add(' & 1023) <> 0 OR rds_tick())');
  },

  isMember(out, operand, values, storage) {
    operand();
    writeAmong(out, values, storage === 'number');
  },
  listRows(out, json) {
    out.add('json_each(').bind(json).add(')');
  },

  textMatches: writeTextMatch,
  search: writeSearch,
  score: writeSearchScore,

  jsonExists: writeJsonExists,
  jsonCompare: writeJsonCompare,
  jsonHas: writeJsonHas,
  jsonHasOrdered: writeJsonHasOrdered,
  jsonPointsInto: writeJsonPointsInto,
  jsonMatches: writeJsonMatches,
  jsonOrder: writeJsonOrder,
  wireTexts: (out, alias, ref) => writeWireTexts(out, alias, ref, () => sqliteDialect.wireText(out, alias, ref)),
  wireText(out, alias, ref) {
    const storage = storageOf(ref.field);
    if (storage === 'json') {
      out.add('rds_canonical(rds_place(').column(alias, ref.field.column).add(', ').bind(JSON.stringify(ref.path)).add('))');
      return;
    }
    out.add('rds_wire(').bind(storage).add(', ').column(alias, ref.field.column).add(', ');
    out.bind(ref.field.targetClass ?? '').add(')');
  },
  aclAllows(out, alias, column, right, identities) {
    out
      .add('(')
      .column(alias, column)
      .add(' IS NULL OR ')
      .column(alias, column)
      .add(" = '{}' OR EXISTS (SELECT 1 FROM json_each(");
    out.column(alias, column).add(') AS e WHERE e.key IN (SELECT value FROM json_each(').bind(JSON.stringify(identities));
    out.add(`)) AND json_extract(e.value, '$.${right}')))`);
  },
  edit(out, field, edits, label) {
    out
      .add('rds_edit(')
      .name(field.column)
      .add(', ')
      .bind(JSON.stringify(edits))
      .add(`, '${field.type === 'Array' ? 'Array' : 'Object'}', `)
      .bind(label)
      .add(')');
  },
};
