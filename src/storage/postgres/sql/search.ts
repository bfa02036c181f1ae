import type { SearchWords } from '../../../query/model/filter.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { MAX_SEARCHED_LENGTH, PHONE_END, type SearchRole, searchRole } from '../../../schema/search-index.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { characterClasses } from './full-text-characters.ts';
import { quotedName } from './names.ts';

const functions: Readonly<Record<SearchRole, string>> = {
  name: 'rds_words',
  email: 'rds_words',
  number: 'rds_words',
  phone: 'rds_phone',
  count: 'rds_number',
  phoneCount: 'rds_number',
};

/** Returns the expression that the search index of a field is built on. @param schema quoted, of the system */
export function searchExpression(schema: string, field: Field, column: string): string {
  const role = searchRole(field);
  if (role === null) throw new Error(`records are not looked up by ${field.name}`);
  return `${schema}.${functions[role]}(${column})`;
}

/** Above the planner's cost of reading a whole table: it then uses the index, however many records it expects to find. */
const COST = 10_000;

/**
 * Returns the statements that create the functions of search indexes. They must never change, since indexes hold their results. @param schema
 * quoted, of the system
 */
export function searchFunctions(schema: string): string[] {
  const make = (name: string, type: string, body: string) =>
    `CREATE OR REPLACE FUNCTION ${schema}.${name}(value ${type}) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST ${COST} AS $body$ ${body} $body$`;
  const words = `regexp_split_to_array(lower(left(value, ${MAX_SEARCHED_LENGTH})), '[^${characterClasses().wordCharacters}]+')`;
  const national = `regexp_replace(digits, '^(00)?9720*', '0')`;
  return [
    make('rds_words', 'text', `BEGIN RETURN array_to_tsvector(array_remove(${words}, '')); END`),
    make(
      'rds_phone',
      'text',
      `DECLARE digits text := regexp_replace(left(value, ${MAX_SEARCHED_LENGTH}), '[^0-9]+', '', 'g'); BEGIN
        RETURN ${schema}.rds_words(value)
          || array_to_tsvector(array_remove(ARRAY[${national}, '${PHONE_END.letter}' || right(digits, ${PHONE_END.digits})], '')); END`,
    ),
    make(
      'rds_number',
      'double precision',
      'BEGIN RETURN CASE WHEN abs(value) < 1e15 THEN array_to_tsvector(ARRAY[trunc(value)::bigint::text]) END; END',
    ),
  ];
}

/**
 * Writes whether the record is among those that the index finds. They are searched first, unordered, so that the limit ends the search, and in an
 * array, so that the planner fetches the records by key.
 * @param schema quoted, of the system
 */
export function writeCandidates(
  schema: string,
  out: SqlOut,
  alias: string,
  table: TableSchema,
  { words, tokens, starts, fields, limit }: SearchWords,
  restrict: (alias: string) => void,
): void {
  const numbers = fields.filter(({ type }) => type === 'Number');
  const phones = fields.filter((field) => searchRole(field) === 'phone');
  const texts = fields.filter(({ type }) => type !== 'Number');
  const any: (() => void)[] = [];
  const holds = (among: readonly Field[], query: string) => {
    among.forEach((field, at) => {
      const words = searchExpression(schema, field, `s.${quotedName(field.column)}`);
      out
        .add(`${at > 0 ? ' OR ' : '('}${words} @@ `)
        .bind(query)
        .add('::tsquery');
    });
    out.add(')');
  };
  if (words.length > 0 && texts.length > 0)
    any.push(() =>
      words.forEach(({ word, isWhole }, at) => {
        if (at > 0) out.add(' AND ');
        holds(
          texts,
          casesOf(word)
            .map((form) => (isWhole ? `'${form}'` : `'${form}':*`))
            .join(' | '),
        );
      }),
    );
  const exact = [...tokens.map((token) => `'${token}'`), ...starts.map((start) => `'${start}':*`)].join(' | ');
  if (exact !== '' && phones.length + numbers.length > 0) any.push(() => holds([...phones, ...numbers], exact));
  if (any.length === 0) {
    out.add('false');
    return;
  }
  out.column(alias, '_seq').add(' = ANY(ARRAY(SELECT s."_seq" FROM ').table(table.sqlName).add(' AS s WHERE (');
  any.forEach((write, at) => {
    out.add(at > 0 ? ' OR (' : '(');
    write();
    out.add(')');
  });
  out.add(')');
  restrict('s');
  out.add(' LIMIT ').bind(limit).add('))');
}

/** Returns a word also capitalised and in capitals: databases with locale C lower-case ASCII letters only. */
function casesOf(word: string): string[] {
  const [first = ''] = word;
  return [...new Set([word, first.toUpperCase() + word.slice(first.length), word.toUpperCase()])];
}
