import type { TextSearch } from '../../../query/model/filter.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { K1 } from '../../sql/full-text/match.ts';
import { foldedSearch, indexFolding } from '../../sql/full-text/words.ts';
import { arrayLiteral } from './arrays.ts';
import { textFolder, writeFields } from './full-text-texts.ts';
import { cut, indexedFields, positionsMissing, quotedLexeme, wordsMissing } from './full-text-vector.ts';

/**
 * The relevance of a record by its own words, as `textScorer` of storage/sql/full-text says; NULL where it is not found. No table-wide
 * statistics go into it, whatever the caller: PostgreSQL keeps none of words.
 */
export function writeSearchScore(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void {
  const fields = indexedFields(table);
  const { terms, phrases } = foldedSearch(search, indexFolding);
  if (fields.length === 0 || terms.length + phrases.length === 0) {
    out.add('NULL');
    return;
  }
  const folder = textFolder(indexFolding, [...terms, ...phrases]);
  // Both words of a pair have spaces of their own, so that `replace` takes neighbours for two.
  const wanted = (list: readonly string[]) =>
    arrayLiteral(list.map((words) => cutWords(words).replaceAll(' ', '  ').slice(1, -1)));
  const lexemes = new Set([...terms, ...phrases].flatMap((words) => cutWords(words).trim().split(' ')));

  out
    .add('(WITH f AS MATERIALIZED (SELECT CASE WHEN c.v @@ ')
    .bind(`${quotedLexeme(positionsMissing)} | ${quotedLexeme(wordsMissing)}`);
  out.add(
    `::tsquery THEN replace(${folder.folded('c.x')}, ' ', '  ') ELSE (SELECT string_agg(CASE WHEN at = before + 1 THEN ' ' ELSE '| ' END`,
  );
  out.add(" || lexeme || ' ', '' ORDER BY at) FROM (SELECT u.lexeme, p.at, lag(p.at) OVER (ORDER BY p.at) AS before");
  out.add(' FROM unnest(c.v) AS u, unnest(u.positions) AS p(at) WHERE u.lexeme = ANY(').bind(arrayLiteral([...lexemes]));
  out.add('::text[])) AS places) END AS f FROM (VALUES ');
  writeFields(out, alias, fields);
  folder.writeConstants(out.add(') AS c(x, v), '));
  out.add(') SELECT CASE WHEN bool_and(n > 0 OR NOT required) THEN ');
  out.add(`nullif(sum(n * ${K1 + 1} / (n + ${K1})), 0) END FROM (SELECT w.required, (SELECT `);
  out.add(
    "coalesce(sum((length(f.f) - length(replace(f.f, w.w, ''))) / length(w.w)), 0)::float8 FROM f) AS n FROM (SELECT unnest(",
  );
  out.bind(wanted(phrases)).add('::text[]) AS w, true AS required UNION ALL SELECT unnest(').bind(wanted(terms));
  out.add('::text[]), false) AS w) AS counts)');
}

/** Words as far as the index keeps them. */
function cutWords(words: string): string {
  return words.split(' ').map(cut).join(' ');
}
