import type { TextSearch } from '../../../query/model/filter.ts';
import type { TableSchema } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { type FoldedTerm, foldedSearch } from '../../sql/full-text/folded-search.ts';
import { MAX_PREFIX_LETTERS, PREFIX_LETTERS } from '../../sql/full-text/hebrew-prefixes.ts';
import { K1 } from '../../sql/full-text/match.ts';
import { indexFolding } from '../../sql/full-text/words.ts';
import { arrayLiteral } from './arrays.ts';
import { textFolder, writeFields } from './full-text-texts.ts';
import { cut, indexedFields, positionsMissing, quotedLexeme, wordsMissing } from './full-text-vector.ts';

/**
 * Writes the relevance of a record by its own words, as `textScorer` of storage/sql/full-text computes it; NULL if it is not found. It uses no
 * table-wide statistics for any caller, because PostgreSQL keeps none of words.
 */
export function writeSearchScore(out: SqlOut, alias: string, table: TableSchema, search: TextSearch): void {
  const fields = indexedFields(table);
  const { terms, phrases } = foldedSearch(search, indexFolding);
  if (fields.length === 0 || phrases.length < search.phrases.length || terms.length + phrases.length === 0) {
    out.add('NULL');
    return;
  }
  const folder = textFolder(indexFolding, [...terms, ...phrases]);
  const lexemes = new Set([...terms, ...phrases].flatMap(({ words }) => cutWords(words).trim().split(' ')));

  out
    .add('(WITH f AS MATERIALIZED (SELECT CASE WHEN c.v @@ ')
    .bind(`${quotedLexeme(positionsMissing)} | ${quotedLexeme(wordsMissing)}`);
  out.add(
    `::tsquery THEN replace(${folder.folded('c.x')}, ' ', '  ') ELSE (SELECT string_agg(CASE WHEN at = before + 1 THEN ' ' ELSE '| ' END`,
  );
  out.add(" || lexeme || ' ', '' ORDER BY at) FROM (SELECT u.lexeme, p.at, lag(p.at) OVER (ORDER BY p.at) AS before");
  out.add(' FROM unnest(c.v) AS u, unnest(u.positions) AS p(at) WHERE u.lexeme = ANY(').bind(arrayLiteral([...lexemes]));
  out.add('::text[])');
  const prefixed = terms.filter(({ isPrefixed }) => isPrefixed).map(({ words }) => cutWords(words).trim());
  if (prefixed.length > 0) out.add(' OR u.lexeme ~ ').bind(`^${prefixes}(?:${prefixed.join('|')})$`);
  out.add(') AS places) END AS f FROM (VALUES ');
  writeFields(out, alias, fields);
  folder.writeConstants(out.add(') AS c(x, v), '));
  out.add(') SELECT CASE WHEN bool_and(n > 0 OR NOT required) THEN ');
  out.add('nullif(sum(t), 0) / CASE WHEN bool_or(n > 0) THEN 1 ELSE 1 + sum(t) END END');
  out.add(` FROM (SELECT required, n, (n + m) * ${K1 + 1} / (n + m + ${K1}) AS t FROM (SELECT w.required, (SELECT `);
  out.add(
    "coalesce(sum((length(f.f) - length(replace(f.f, w.w, ''))) / length(w.w)), 0)::float8 FROM f) AS n, CASE WHEN w.p IS NULL THEN 0 ",
  );
  out.add("ELSE (SELECT count(*) FROM f, regexp_matches(f.f, w.p, 'g'))::float8 END AS m FROM (");
  writeWanted(out, phrases, true);
  writeWanted(out.add(' UNION ALL '), terms, false);
  out.add(') AS w) AS counts) AS weights)');
}

const prefixes = `[${PREFIX_LETTERS}]{1,${MAX_PREFIX_LETTERS}}`;

/** Shortens words as the index does. */
function cutWords(words: string): string {
  return words.split(' ').map(cut).join(' ');
}

/** Writes a row source of words `w` and a pattern `p` that finds them after prefix letters (else NULL). */
function writeWanted(out: SqlOut, wanted: readonly FoldedTerm[], required: boolean): void {
  // Each word has its own spaces on both sides, so that `replace` counts adjacent occurrences separately.
  const spaced = wanted.map(({ words }) => cutWords(words).replaceAll(' ', '  ').slice(1, -1));
  const patterns = wanted.map(({ isPrefixed }, at) => (isPrefixed ? ` ${prefixes}${spaced[at]?.slice(1)}` : null));
  out.add('SELECT unnest(').bind(arrayLiteral(spaced)).add('::text[]) AS w, unnest(').bind(arrayLiteral(patterns));
  out.add(`::text[]) AS p, ${required} AS required`);
}
