import { storageOf } from '../../../values/index.ts';
import type { Dialect, SqlOut } from '../../sql/dialect.ts';
import { quoted } from '../../sql/writer.ts';
import { writeJsonHas, writeJsonHasOrdered, writeJsonPointsInto, writeWireTexts } from './elements.ts';
import { writeSearch, writeSearchScore } from './full-text.ts';
import { writeAmong, writeJsonCompare, writeJsonExists, writeJsonMatches, writeJsonOrder } from './json.ts';
import { writeCandidates } from './search.ts';
import { writeTextMatch } from './text-match.ts';

/** Identities that a JSON path can name as they are. */
const plainIdentity = /^[^"\\\p{C}]+$/u;
/** SQLite bounds the arguments of a function. */
const MAX_PATHS = 96;
const PATHS_STEP = 4;
/** Bytes of a value that conditions go through in about the time of a call into JavaScript. */
const SHORT_VALUE_BYTES = 256;

/** Whether an ACL gives a right to one of the identities. Looking at their places costs a third of going through all entries. */
function writeAclRight(out: SqlOut, writeAcl: () => void, right: 'read' | 'write', identities: readonly string[]): void {
  if (identities.length > MAX_PATHS || !identities.every((identity) => plainIdentity.test(identity))) {
    out.add('EXISTS (SELECT 1 FROM json_each(');
    writeAcl();
    out.add(') AS e WHERE e.key IN (SELECT value FROM json_each(').bind(JSON.stringify(identities));
    out.add(`)) AND json_extract(e.value, '$.${right}'))`);
    return;
  }
  const paths = identities.map((identity) => `$."${identity}".${right}`);
  // Callers with about as many identities share a statement. No ACL has an entry without a name.
  while (paths.length % PATHS_STEP !== 0) paths.push('$."".none');
  // Of several paths the answer is an array; an ACL holds booleans alone.
  out.add('instr(json_extract(');
  writeAcl();
  for (const path of paths) out.add(', ').bind(path);
  out.add("), 'true')");
}

/** SQL as SQLite has it. Values that it cannot compute itself come from functions of ours, `rds_...` (functions.ts). */
export const sqliteDialect: Dialect = {
  quoted,
  table: quoted,
  noLimit: -1,
  companion: () => null,
  placeholder: () => '?',
  toColumn: (_storage, value) => (typeof value === 'boolean' ? Number(value) : value),
  nulls: () => '',
  unindexed: '+',
  interruptCheck(out, alias) {
    // Calls from SQL into JavaScript cost more than the row; one in 1,024 does.
    out.add('((').column(alias, '_seq').add(' & 1023) <> 0 OR rds_tick())');
  },

  interruptCheckIfLong(out, alias, column) {
    out.add(`(octet_length(`).column(alias, column).add(`) < ${SHORT_VALUE_BYTES} OR rds_tick()) AND `);
  },

  // SQLite knows without reading the value.
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
      .bind(JSON.stringify(edits))
      .add(`, '${field.type === 'Array' ? 'Array' : 'Object'}', `)
      .bind(label)
      .add(')');
  },
};
