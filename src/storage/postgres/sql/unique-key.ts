import { foldedCharacters } from '../../../kernel/case-folding.ts';
import type { UniqueForm } from '../../../schema/model.ts';
import { HASH_PREFIX, MAX_KEY_BYTES } from '../../../schema/unique-key.ts';

/** The functions of a system's schema that compute keys of texts. */
export const uniqueFunctions: Readonly<Record<UniqueForm, string>> = {
  text: 'rds_unique_text',
  nocase: 'rds_unique_nocase',
  phone: 'rds_unique_phone',
};

/**
 * Returns the statements that create the functions of unique indexes in a form: they compute the keys of schema/unique-key.ts. They must never change,
 * since indexes hold their results. @param schema quoted, of the system
 */
export function uniqueKeyFunctions(schema: string, form: UniqueForm): string[] {
  const make = (name: string, body: string) =>
    `CREATE OR REPLACE FUNCTION ${schema}.${name}(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$ ${body} $body$`;
  const text = make(
    uniqueFunctions.text,
    `BEGIN RETURN CASE WHEN value = '' THEN NULL WHEN octet_length(value) <= ${MAX_KEY_BYTES} AND NOT starts_with(value, E'${escaped(HASH_PREFIX)}') THEN value
      ELSE E'${escaped(HASH_PREFIX)}' || encode(sha256(convert_to(value, 'UTF8')), 'hex') END; END`,
  );
  if (form === 'text') return [text];
  return [
    text,
    form === 'phone' ? make(uniqueFunctions.phone, phoneBody(schema)) : make(uniqueFunctions.nocase, nocaseBody(schema)),
  ];
}

/** As `phoneKey`. Lengths are counted in UTF-16 there. */
const phoneBody = (schema: string): string => `DECLARE digits text; BEGIN
  IF char_length(value) > 5000
    AND char_length(value) + char_length(regexp_replace(value, '[^\\U00010000-\\U0010FFFF]+', '', 'g')) > 10000 THEN RETURN NULL; END IF;
  digits := regexp_replace(value, '[^0-9]+', '', 'g');
  IF char_length(digits) > 1000 THEN RETURN NULL; END IF;
  IF starts_with(digits, '972') THEN digits := '0' || substr(digits, 4); END IF;
  RETURN ${schema}.${uniqueFunctions.text}(digits); END`;

/** As `foldCase`: `lower` in the collation "C" changes ASCII letters only, and the pattern keeps texts without other capitals from the long tables. */
function nocaseBody(schema: string): string {
  const { from, to, several, pattern } = foldingTables();
  const replaced = several.map(([character, folded]) => `key := replace(key, '${character}', '${folded}');`).join(' ');
  return `DECLARE key text := lower(value COLLATE "C"); BEGIN
    IF octet_length(key) > char_length(key) AND key COLLATE "C" ~ '${pattern}' THEN
      key := translate(key, '${from}', '${to}');
      IF key COLLATE "C" ~ '[${several.map(([character]) => character).join('')}]' THEN ${replaced} END IF;
    END IF;
    RETURN ${schema}.${uniqueFunctions.text}(key); END`;
}

/** What `foldCase` changes. */
interface FoldingTables {
  /** Characters that become one other, and what they become, for `translate`. */
  readonly from: string;
  readonly to: string;
  /** Those that become several. */
  readonly several: readonly (readonly [character: string, folded: string])[];
  /** A pattern of all. */
  readonly pattern: string;
}

let tables: FoldingTables | undefined;

function foldingTables(): FoldingTables {
  tables ??= makeTables();
  return tables;
}

function makeTables(): FoldingTables {
  const changed = foldedCharacters();
  const one = changed.filter(([, folded]) => [...folded].length === 1);
  return {
    from: one.map(([character]) => character).join(''),
    to: one.map(([, folded]) => folded).join(''),
    several: changed.filter(([, folded]) => [...folded].length > 1),
    pattern: `[${rangesOf(changed.map(([character]) => character))}]`,
  };
}

/** Returns characters, in the order of their code points, as ranges of a bracket expression. */
function rangesOf(characters: readonly string[]): string {
  let text = '';
  for (let at = 0; at < characters.length; ) {
    let end = at;
    while (pointOf(characters[end + 1]) === pointOf(characters[end]) + 1) end++;
    text += end - at < 2 ? characters.slice(at, end + 1).join('') : `${characters[at]}-${characters[end]}`;
    at = end + 1;
  }
  return text;
}

const pointOf = (character: string | undefined): number => character?.codePointAt(0) ?? Number.NaN;

const escaped = (text: string): string =>
  [...text].map((character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
