import type { Field } from '../../../schema/model.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import type { FoldedTerm } from '../../sql/full-text/folded-search.ts';
import { type Folding, MAX_INDEXED_LENGTH } from '../../sql/full-text/words.ts';
import { characterClasses, lowercaseMap } from './full-text-characters.ts';
import { vectorColumn } from './full-text-vector.ts';

/** SQL that folds texts as `words` of storage/sql/full-text does. */
export interface TextFolder {
  /**
   * Returns SQL of a folded text, for a text expression that is not null. Words are separated by single spaces, with one or more spaces at each
   * end.
   */
  readonly folded: (text: string) => string;
  /** Writes the row source `k`, which provides the constants of `folded`. */
  readonly writeConstants: (out: SqlOut) => void;
}

/**
 * Returns SQL that folds texts in the database, for searches that the index alone cannot answer.
 * @param wanted all words searched for: only their letters have to be lower-cased
 */
export function textFolder(folding: Folding, wanted: readonly FoldedTerm[]): TextFolder {
  const { marks, wordCharacters } = characterClasses();
  const { from, to } = folding.caseSensitive ? { from: '', to: '' } : lowercaseMap(wanted.map(({ words }) => words));
  const small = (text: string) => (folding.caseSensitive ? text : `translate(${text}, k.capitals, k.small)`);
  return {
    folded(text) {
      const plain = `regexp_replace(${text}, k.piled, '\\1', 'g')`;
      const bare = folding.diacriticSensitive
        ? `normalize(${small(`normalize(${plain}, NFD)`)}, NFC)`
        : small(`regexp_replace(normalize(${plain}, NFD), k.marks, '', 'g')`);
      return `(' ' || regexp_replace(${bare}, k.gaps, ' ', 'g') || ' ')`;
    },
    writeConstants(out) {
      out.add('(SELECT ').bind(`([${marks}]{32})[${marks}]+`).add('::text AS piled, ').bind(`[${marks}]+`);
      out.add('::text AS marks, ').bind(`[^${wordCharacters}]+`).add('::text AS gaps, ').bind(from);
      out.add('::text AS capitals, ').bind(to).add('::text AS small) AS k');
    },
  };
}

/**
 * Writes `WITH f AS (...) `: a row with the folded text `f` for each field that is not null.
 * @param query a tsquery that limits it to fields whose vector matches
 */
export function writeFoldedTexts(out: SqlOut, alias: string, fields: readonly Field[], folder: TextFolder, query?: string): void {
  out.add(`WITH f AS MATERIALIZED (SELECT ${folder.folded('c.x')} AS f FROM (VALUES `);
  writeFields(out, alias, fields);
  folder.writeConstants(out.add(') AS c(x, v), '));
  if (query === undefined) out.add(' WHERE c.x IS NOT NULL) ');
  else out.add(' WHERE c.v @@ ').bind(query).add('::tsquery) ');
}

/** Writes rows of VALUES: the indexed part of each field's text, and its vector. */
export function writeFields(out: SqlOut, alias: string, fields: readonly Field[]): void {
  fields.forEach((field, at) => {
    out.add(at > 0 ? ', (left(' : '(left(').column(alias, field.column);
    out.add(`, ${MAX_INDEXED_LENGTH}), `).column(alias, vectorColumn(field)).add(')');
  });
}
