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
import { uniqueFunctions } from './unique-key.ts';

/**
 * Returns the SQL dialect of a system's schema. Uses no functions of the service except those of search indexes.
 * @param schema qualifies every table's name, so that no setting of the connection matters
 */
export function postgresDialect(schema: string): Dialect {
  const prefix = `${quotedName(schema)}.`;
  return {
    ...shared,
    table: (sqlName) => prefix + quotedName(sqlName),
    uniqueKey: (form, storage, operand) =>
      storage === 'text' || storage === 'pointer' ? `${prefix}${uniqueFunctions[form]}(${operand})` : operand,
    candidates: (...written) => writeCandidates(quotedName(schema), ...written),
  };
}

const shared: Omit<Dialect, 'table' | 'candidates' | 'uniqueKey'> = {
  quoted: quotedName,
  noLimit: null,
  companion,
  keyRows(out, json, storages) {
    out.add('(SELECT n - 1 AS n');
    storages.forEach((storage, at) => {
      out.add(`, (e ->> ${at})::${arrayTypes[storage].slice(0, -2)} AS k${at}`);
    });
    out.add(' FROM json_array_elements(').bind(json).add('::json) WITH ORDINALITY AS r(e, n))');
  },
  joinByKey: (out, sqlName) => void out.add('JOIN ').table(sqlName).add(' AS t'),
  placeholder: (n) => `$${n}`,
  greatest: 'greatest',
  toColumn: (_storage, value) => value,
  // The planner itself knows which index to use.
  unindexed: '',
  nulls: (descending) => (descending ? ' NULLS LAST' : ' NULLS FIRST'),
  // The server's own statement timeout applies.
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
  // Not a plain equality: the planner would then ignore the column in the order, and search for a frequent value by the next column of the order.
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

/** Checks first whether there is an ACL, since most records have none. */
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

/** Escapes that PostgreSQL cannot represent as text, which reading the names of members would require. */
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
