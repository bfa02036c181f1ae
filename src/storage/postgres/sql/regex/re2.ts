import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { type Ranges, rangesOf } from './ranges.ts';
import type { Flags, Syntax } from './syntax.ts';
import * as tree from './tree.ts';

/** Cached classes, limited by the characters of their texts and the numbers of their ranges. */
const classes = new LRUCache<string, Ranges>({
  max: 2000,
  maxSize: 1_000_000,
  sizeCalculation: (ranges, text) => text.length + ranges.length,
});
const orbits = new LRUCache<number, Ranges>({ max: 5000 });
const hasCase = /[\p{Changes_When_Casefolded}\p{Changes_When_Casemapped}]/u;
const escaped = /\\(?:[pP](?:\{[^}]*\}|.)|x\{[0-9A-Fa-f]+\}|x..|[0-7]{1,3}|.)/suy;
const word: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const lastCodePoint = 0x10ffff;

/** RE2's syntax, as `normalise` passes it to re2js. The characters of a class are obtained from re2js itself. */
export const re2Syntax: Syntax = {
  counted: /\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y,
  newlines: [0x0a, 0x0a],
  literal: (codePoint, flags) => (flags.fold ? foldedLiteral(codePoint) : [codePoint, codePoint]),
  characterClass(source, at, flags) {
    const end = classEnd(source, at);
    return { value: classRanges(source.slice(at, end), flags), end };
  },
  escape(source, at, flags) {
    const end = escapeEnd(source, at);
    const text = source.slice(at, end);
    if (text === '\\A') return { value: tree.textStart, end };
    if (text === '\\z') return { value: tree.textEnd, end };
    if (text === '\\b' || text === '\\B') return { value: tree.wordBoundary(word, text === '\\B'), end };
    return { value: { kind: 'set', ranges: classRanges(`[${text}]`, flags) }, end };
  },
};

/** Returns all characters equal to one of these under simple case folding. */
export function foldCase(ranges: Ranges): Ranges {
  const parts: string[] = [];
  for (let at = 0; at < ranges.length; at += 2) parts.push(`${escapedPoint(ranges[at])}-${escapedPoint(ranges[at + 1])}`);
  // A character without case prevents re2js from compiling the class to a single letter, which has no ranges.
  const withLast = classRanges(`[${parts.join('')}${escapedPoint(lastCodePoint)}]`, { fold: true });
  if (ranges.at(-1) === lastCodePoint) return withLast;
  const last = withLast.at(-2) === lastCodePoint ? [] : [withLast.at(-2) as number, lastCodePoint - 1];
  return [...withLast.slice(0, -2), ...last];
}

function foldedLiteral(codePoint: number): Ranges {
  // Shortcut: most characters have no case.
  if (!hasCase.test(String.fromCodePoint(codePoint))) return [codePoint, codePoint];
  let found = orbits.get(codePoint);
  if (!found) {
    found = foldCase([codePoint, codePoint]);
    orbits.set(codePoint, found);
  }
  return found;
}

function escapedPoint(codePoint: number | undefined): string {
  return `\\x{${(codePoint as number).toString(16)}}`;
}

/** Returns the characters of a class, read from the program that re2js compiles. */
function classRanges(text: string, { fold }: Pick<Flags, 'fold'>): Ranges {
  const key = `${fold ? 'i' : ''}${text}`;
  let found = classes.get(key);
  if (!found) {
    const { prog } = RE2JS.compile(text, fold ? RE2JS.CASE_INSENSITIVE : 0).re2();
    // A class without characters has no program; a single letter and its other case have a special form.
    const { runes = [], arg = 0 } =
      prog.start === 0 ? {} : (prog.getInst(prog.start) as { runes: Iterable<number>; arg: number });
    const [first, ...rest] = runes;
    if (first === undefined) found = [];
    else if (rest.length > 0) found = rangesOf([first, ...rest]);
    else found = arg === 0 ? [first, first] : foldedLiteral(first);
    classes.set(key, found);
  }
  return found;
}

function escapeEnd(source: string, at: number): number {
  escaped.lastIndex = at;
  escaped.test(source);
  return escaped.lastIndex;
}

/** Returns the end of the class at a position, found as re2js finds it. */
function classEnd(source: string, at: number): number {
  let end = at + (source[at + 1] === '^' ? 2 : 1);
  for (let first = true; first || source[end] !== ']'; first = false) {
    const named = source.startsWith('[:', end) ? source.indexOf(':]', end + 2) : -1;
    if (named >= 0) {
      end = named + 2;
    } else if (/[pPdDsSwW]/.test(source[end] === '\\' ? (source[end + 1] as string) : '')) {
      end = escapeEnd(source, end);
    } else {
      end = characterEnd(source, end);
      if (source[end] === '-' && source[end + 1] !== ']') end = characterEnd(source, end + 1);
    }
  }
  return end + 1;
}

function characterEnd(source: string, at: number): number {
  if (source[at] === '\\') return escapeEnd(source, at);
  return at + ((source.codePointAt(at) as number) > 0xffff ? 2 : 1);
}
