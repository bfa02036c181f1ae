import { literal } from '../search/text-match.ts';

/** Keys whose texts are displayed; other keys hold ids, types, addresses, names of fields and settings. */
const shownKey = /^(?:text|label|title|caption|placeholder|description|heading|content|html|message|hint|help|alt)$/i;
const shownEnd = /(?:Text|Label|Title|Caption|Placeholder|Description|Heading|Message|Hint|Html)$/;

export const isDisplayKey = (key: string): boolean => shownKey.test(key) || shownEnd.test(key);

/** Tags, comments, templates and addresses inside a text, which are not displayed. */
const machinery = /<!--|-->|<[a-z/][^<>]*>|\{\{[^{}]*\}\}|(?:https?:\/\/|www\.)[^\s<>]+/gi;
/** The content of these tags is not displayed either. */
const opening = /^<(script|style)\b/i;

/** Applies a function to the displayed parts of a text. */
function mapWords(text: string, change: (words: string) => string): string {
  let result = '';
  let from = 0;
  /** End marker of a part that is not displayed; `null` outside such a part. */
  let until: string | null = null;
  for (const { 0: found, index } of text.matchAll(machinery)) {
    const words = text.slice(from, index);
    result += (until === null ? change(words) : words) + found;
    from = index + found.length;
    const lower = found.toLowerCase();
    if (until !== null) until = lower.startsWith(until) ? null : until;
    else if (found === '<!--') until = '-->';
    else until = endOf(opening.exec(lower)?.[1]);
  }
  const rest = text.slice(from);
  return result + (until === null ? change(rest) : rest);
}

const endOf = (tag: string | undefined): string | null => (tag === undefined ? null : `</${tag}`);

/** Receives the terms that a replacement finds. */
export interface TermListener {
  /** Called for each replaced term. */
  found(term: string): void;
  /** Called for each word that is a term with Hebrew prefixes. It stays, because its form depends on the new term. */
  left(word: string): void;
}

const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
/** Hebrew writes "and", "the", "in", "to", "from", "that", "as" as prefixes of the word, possibly several. */
const PREFIXES = '[ובהכלמש]{1,4}';

/** Returns a function that replaces whole words, longest term first, each place once, so that two terms can be swapped. */
export function termReplacer(terms: ReadonlyMap<string, string>, { found, left }: TermListener): (text: string) => string {
  if (terms.size === 0) return (text) => text;
  const longestFirst = [...terms.keys()].sort((a, b) => b.length - a.length);
  const pattern = wordsPattern('', longestFirst);
  const hebrew = longestFirst.filter((term) => /^\p{Script=Hebrew}/u.test(term));
  const prefixed = hebrew.length > 0 ? wordsPattern(PREFIXES, hebrew) : null;
  const replace = (words: string) => {
    // A word that is itself a term is replaced, even if it is also another term with a prefix.
    if (prefixed) for (const [word] of words.replace(pattern, ' ').matchAll(prefixed)) left(word);
    return words.replace(pattern, (term) => {
      found(term);
      return terms.get(term) ?? term;
    });
  };
  return (text) => mapWords(text, replace);
}

const wordsPattern = (start: string, terms: readonly string[]): RegExp =>
  new RegExp(`(?<!${LETTER})${start}(?:${terms.map(literal).join('|')})(?!${LETTER})`, 'gu');
