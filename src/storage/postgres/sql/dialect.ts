import { storageOf } from '../../../values/index.ts';
import type { Dialect, SqlOut } from '../../sql/dialect.ts';
import { arrayLiteral, arrayTypes } from './arrays.ts';
import { writeAmong, writeJsonHas, writeJsonHasOrdered, writeJsonPointsInto, writeWireTexts } from './elements.ts';
import { writeSearch } from './full-text.ts';
import { writeSearchScore } from './full-text-score.ts';
import { companion } from './full-text-vector.ts';
import { columnOf, writeJsonCompare, writeJsonExists, writeJsonMatches, writeJsonOrder, writeWireText } from './json.ts';
import { quotedName } from './names.ts';
import { writeCandidates } from './search.ts';
import { writeSnapshot } from './snapshot.ts';
import { writeTextMatch } from './text-match.ts';

/**
 * SQL as PostgreSQL has it, without functions of ours but for those that search indexes are of.
 * @param schema of the system, which every table's name is written with: no setting of the connection is relied upon
 */
export function postgresDialect(schema: string): Dialect {
  const prefix = `${quotedName(schema)}.`;
  return {
    ...shared,
    table: (sqlName) => prefix + quotedName(sqlName),
    candidates: (...written) => writeCandidates(quotedName(schema), ...written),
  };
}

const shared: Omit<Dialect, 'table' | 'candidates'> = {
  quoted: quotedName,
  noLimit: null,
  companion,
  placeholder: (n) => `$${n}`,
  toColumn: (_storage, value) => value,
  // The planner knows what is read.
  unindexed: '',
  nulls: (descending) => (descending ? ' NULLS LAST' : ' NULLS FIRST'),
  // The server itself ends a statement that runs for too long.
  interruptCheck: (out) => void out.add('true'),
  interruptCheckIfLong: () => {},
  byteLength(out, alias, field) {
    out
      .add('octet_length(')
      .column(alias, field.column)
      .add(storageOf(field) === 'json' ? '::text)' : ')');
  },

  list: arrayLiteral,
  isMember(out, operand, values, storage) {
    operand();
    out.add(' = ANY(').bind(arrayLiteral(values)).add(`::${arrayTypes[storage]})`);
  },
  // With an equality the column says nothing of the order, and records of a common value are looked for among all, by what follows it there.
  equalsLeadingKey: (out, alias, field, value) =>
    void out.column(alias, field.column).add(' = ANY(ARRAY[').bind(value).add('::text])'),
  isAmong: writeAmong,
  listRows: (out, json) => void out.add('json_array_elements_text(').bind(json).add('::json) AS listed(value)'),

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
  wireText: writeWireText,
  wireTexts: writeWireTexts,
  aclAllows: writeAclAllows,
  lists: writeLists,
  without: writeWithout,
  snapshot: writeSnapshot,
};

/** Most records have no ACL, so that is looked at first. */
function writeAclAllows(
  out: SqlOut,
  alias: string,
  column: string,
  right: 'read' | 'write',
  identities: readonly string[],
): void {
  const acl = columnOf(alias, column);
  const listed = `${out.parameter(arrayLiteral(identities))}::text[]`;
  out.add(`(${acl} IS NULL OR CASE WHEN ${acl}::text = '{}' THEN true`);
  out.add(
    ` ELSE EXISTS (SELECT 1 FROM json_each(${acl}::json) AS e WHERE e.key = ANY(${listed}) AND e.value ->> '${right}' = 'true') END)`,
  );
}

function writeLists(out: SqlOut, alias: string, column: string, names: readonly string[]): void {
  names.forEach((name, at) => {
    out.add(at > 0 ? ', ' : '(SELECT ').add(`e ->> ${at} AS ${quotedName(name)}`);
  });
  out.add(` FROM json_array_elements(${columnOf(alias, column)}::json) AS e)`);
}

/** Escapes that PostgreSQL has no text for, as it would have to where it reads the names of members. */
const unreadable = String.raw`\\u(?:0000|[dD][89a-fA-F])`;

function writeWithout(
  out: SqlOut,
  alias: string,
  column: string,
  storage: 'json' | 'text',
  names: ReadonlyArray<() => void>,
): void {
  const json = columnOf(alias, column);
  out.add(`CASE WHEN ${json}::text !~ '${unreadable}' THEN (SELECT`);
  out.add(
    ` ('{' || coalesce(string_agg(to_json(e.key)::text || ':' || e.value::text, ',' ORDER BY e.n), '') || '}')::${storage}`,
  );
  out.add(` FROM json_each(${json}::json) WITH ORDINALITY AS e(key, value, n) WHERE (split_part(e.key, '.', 1) = ANY(ARRAY[`);
  names.forEach((write, at) => {
    if (at > 0) out.add(', ');
    write();
  });
  out.add(']::text[])) IS NOT TRUE) END');
}
