import { editsText, storageOf } from '../../../values/index.ts';
import type { Dialect, SqlOut } from '../../sql/dialect.ts';
import { quoted } from '../../sql/sql-writer.ts';
import { writeJsonHas, writeJsonHasOrdered, writeJsonPointsInto, writeWireTexts } from './elements.ts';
import { writeSearch, writeSearchScore } from './full-text.ts';
import { writeAmong, writeJsonCompare, writeJsonExists, writeJsonMatches, writeJsonOrder } from './json.ts';
import { writeCandidates } from './search.ts';
import { writeTextMatch } from './text-match.ts';

/** Identities that a JSON path can contain without escapes. */
const plainIdentity = /^[^"\\\p{C}]+$/u;
/** SQLite limits the arguments of a function. */
const MAX_PATHS = 96;
const PATHS_STEP = 4;
/** Below this length, scanning a value takes less time than a call into JavaScript. */
const SHORT_VALUE_BYTES = 256;

/** Writes whether an ACL grants a right to one of the identities. Looking up their paths takes a third of the time of scanning all entries. */
function writeAclRight(out: SqlOut, writeAcl: () => void, right: 'read' | 'write', identities: readonly string[]): void {
  if (identities.length > MAX_PATHS || !identities.every((identity) => plainIdentity.test(identity))) {
    out.add('EXISTS (SELECT 1 FROM json_each(');
    writeAcl();
    out.add(') AS e WHERE e.key IN (SELECT value FROM json_each(').bind(JSON.stringify(identities));
    out.add(`)) AND json_extract(e.value, '$.${right}'))`);
    return;
  }
  const paths = identities.map((identity) => `$."${identity}".${right}`);
  // Padding lets callers with a similar number of identities share a statement. No ACL has an entry without a name.
  while (paths.length % PATHS_STEP !== 0) paths.push('$."".none');
  // With several paths, json_extract returns an array; an ACL contains only Booleans.
  out.add('instr(json_extract(');
  writeAcl();
  for (const path of paths) out.add(', ').bind(path);
  out.add("), 'true')");
}

/** The SQL of SQLite. What it cannot compute is done by our own functions, `rds_...` (functions.ts). */
export const sqliteDialect: Dialect = {
  quoted,
  table: quoted,
  noLimit: -1,
  companion: () => null,
  // The result is an expression for all types: SQLite names the columns of an index without one in errors, instead of the index.
  uniqueKey: (form, storage, operand) =>
    form === 'text' || storage !== 'text' ? `nullif(${operand}, '')` : `rds_unique_${form}(${operand})`,
  keyRows(out, json, storages) {
    out.add('(SELECT e.key AS n');
    storages.forEach((_, at) => {
      out.add(`, e.value ->> ${at} AS k${at}`);
    });
    out.add(' FROM json_each(').bind(json).add(') AS e)');
  },
  // Without the index, reading the table once for each key would block the event loop; the statement fails instead.
  joinByKey: (out, sqlName, index) => void out.add('CROSS JOIN ').table(sqlName).add(' AS t INDEXED BY ').name(index),
  placeholder: () => '?',
  greatest: 'max',
  toColumn: (_storage, value) => (typeof value === 'boolean' ? Number(value) : value),
  nulls: () => '',
  unindexed: '+',
  interruptCheck(out, alias) {
    // A call from SQL into JavaScript costs more than reading a row, so only one row in 1,024 makes it.
    out.add('((').column(alias, '_seq').add(' & 1023) <> 0 OR rds_tick())');
  },

  interruptCheckIfLong(out, alias, column) {
    out.add(`(octet_length(`).column(alias, column).add(`) < ${SHORT_VALUE_BYTES} OR rds_tick()) AND `);
  },

  // SQLite knows the length without reading the value.
  byteLength: (out, alias, field) => void out.add('octet_length(').column(alias, field.column).add(')'),

  list: (values) => JSON.stringify(values),
  isMember(out, operand, values, storage) {
    operand();
    writeAmong(out, values, storage === 'number');
  },
  equalsLeadingKey: (out, alias, field, value) => void out.column(alias, field.column).add(' = ').bind(value),
  isAmong(out, operand, query) {
    operand();
    out.add(' IN (');
    query();
    out.add(')');
  },
  listRows(out, json) {
    out.add('json_each(').bind(json).add(')');
  },

  textMatches: writeTextMatch,
  search: writeSearch,
  score: writeSearchScore,
  candidates: writeCandidates,

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
    out.add('(').column(alias, column).add(' IS NULL OR ').column(alias, column).add(" = '{}' OR ");
    writeAclRight(out, () => out.column(alias, column), right, identities);
    out.add(')');
  },
  lists(out, alias, column, names) {
    names.forEach((name, at) => {
      out.add(at > 0 ? ', ' : '(SELECT ').add(`json_extract(value, '$[${at}]') AS ${quoted(name)}`);
    });
    out.add(' FROM json_each(').column(alias, column).add('))');
  },
  without(out, alias, column, _storage, names) {
    out.add('rds_without(').column(alias, column).add(', json_array(');
    names.forEach((write, at) => {
      if (at > 0) out.add(', ');
      write();
    });
    out.add('))');
  },
  edit(out, field, edits, label) {
    out
      .add('rds_edit(')
      .name(field.column)
      .add(', ')
      .bind(editsText(edits))
      .add(`, '${field.type === 'Array' ? 'Array' : 'Object'}', `)
      .bind(label)
      .add(')');
  },
};
