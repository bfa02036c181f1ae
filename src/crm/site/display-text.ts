import { literal } from '../search/text-match.ts';

/** Keys whose texts people read; ids, types, addresses, names of fields and settings stand under others. */
const shownKey = /^(?:text|label|title|caption|placeholder|description|heading|content|html|message|hint|help|alt)$/i;
const shownEnd = /(?:Text|Label|Title|Caption|Placeholder|Description|Heading|Message|Hint|Html)$/;

export const isDisplayKey = (key: string): boolean => shownKey.test(key) || shownEnd.test(key);

/** Tags, comments, templates and addresses inside a text: no words of people. */
const machinery = /<!--|-->|<[a-z/][^<>]*>|\{\{[^{}]*\}\}|(?:https?:\/\/|www\.)[^\s<>]+/gi;
/** What stands between these tags is no text either. */
const opening = /^<(script|style)\b/i;

/** Replaces words in the parts of a text that people read. */
function mapWords(text: string, change: (words: string) => string): string {
  let result = '';
  let from = 0;
  /** What ends a part that nobody reads; `null` outside of one. */
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

/** Who is told what a replacement comes upon. */
export interface TermListener {
  /** Told of each term that was replaced. */
  found(term: string): void;
  /** Told of each word that is a term behind Hebrew prefixes: what it becomes depends on the new term, so that it stays. */
  left(word: string): void;
}

const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
/** "And", "the", "in", "to", "from", "that", "as" are written onto the word in Hebrew, several one after the other. */
const PREFIXES = '[ובהכלמש]{1,4}';

/** Replaces terms by others, whole words only, longest first, each place once: two terms may change places. */
export function termReplacer(terms: ReadonlyMap<string, string>, { found, left }: TermListener): (text: string) => string {
  if (terms.size === 0) return (text) => text;
  const longestFirst = [...terms.keys()].sort((a, b) => b.length - a.length);
  const pattern = wordsPattern('', longestFirst);
  const hebrew = longestFirst.filter((term) => /^\p{Script=Hebrew}/u.test(term));
  const prefixed = hebrew.length > 0 ? wordsPattern(PREFIXES, hebrew) : null;
  const replace = (words: string) => {
    // A word that is a term itself is replaced, also where it is another one behind a prefix.
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
