import { classRanges, escapedClass, wordCharacters } from './javascript-classes.ts';
import { readEscape } from './javascript-escape.ts';
import { foldCase } from './re2.ts';
import type { Syntax } from './syntax.ts';
import * as tree from './tree.ts';

const member = /\[\^?(?:\\.|[^\]\\])*\]/sy;

/** JavaScript's syntax with the flag `u`, for patterns that RE2 cannot express. */
export const javascriptSyntax: Syntax = {
  counted: /\{(\d+)(?:(,)(\d+)?)?\}/y,
  newlines: [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029],
  literal: (codePoint, flags) => (flags.fold ? foldCase([codePoint, codePoint]) : [codePoint, codePoint]),
  characterClass(source, at, flags) {
    member.lastIndex = at;
    const [text] = member.exec(source) as RegExpExecArray;
    return { value: classRanges(text, flags.fold), end: at + text.length };
  },
  escape(source, at, flags, names) {
    const { text, codePoint, name, index, end } = readEscape(source, at);
    if (text === '\\b' || text === '\\B') return { value: tree.wordBoundary(wordCharacters(flags.fold), text === '\\B'), end };
    if (name !== undefined) return { value: { kind: 'reference', to: names.get(name) ?? 0, fold: flags.fold }, end };
    if (index !== undefined) return { value: { kind: 'reference', to: index, fold: flags.fold }, end };
    const ranges = codePoint === undefined ? escapedClass(text, flags.fold) : javascriptSyntax.literal(codePoint, flags);
    return { value: { kind: 'set', ranges }, end };
  },
};

const piece = /\\(?:[pPu]\{[^}]*\}|.)|\[\^?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[{}\]]/gsu;
const escaped = /\\./gsu;

/**
 * Rewrites a JavaScript pattern in the strict spelling that the flag `u` requires (with it, characters are code points): removes unnecessary
 * escapes and escapes literal brackets.
 */
export function unicodeSource(source: string): string {
  return source.replace(piece, (text) => {
    if (text.startsWith('\\')) return withoutNeedless(text);
    if (text.startsWith('[')) return text.replace(escaped, (each) => (each === '\\-' ? each : withoutNeedless(each)));
    return text.length > 1 ? text : `\\${text}`;
  });
}

function withoutNeedless(text: string): string {
  return /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(text[1] ?? '') ? text : text.slice(1);
}
