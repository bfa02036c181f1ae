import { LRUCache } from 'lru-cache';
import { readEscape } from './javascript-escape.ts';
import { complement, type Ranges, rangesOf } from './ranges.ts';
import { foldCase } from './re2.ts';

/** Cached scans, limited by the total numbers of ranges. A scan takes tens of milliseconds, so a pattern may have only a few (`estimate`). */
const scans = new LRUCache<string, Ranges>({ maxSize: 1_000_000, sizeCalculation: (ranges) => ranges.length + 1 });
let characters: string | undefined;

/** Returns the characters of a class in brackets. */
export function classRanges(text: string, fold: boolean): Ranges {
  const negative = text[1] === '^';
  const pairs: number[] = [];
  const end = text.length - 1;
  let at = negative ? 2 : 1;
  while (at < end) {
    const first = memberAt(text, at, fold);
    at = first.end;
    if (first.codePoint === undefined) {
      pairs.push(...first.ranges);
    } else if (text[at] === '-' && at + 1 < end) {
      const last = memberAt(text, at + 1, fold);
      pairs.push(first.codePoint, last.codePoint ?? first.codePoint);
      at = last.end;
    } else {
      pairs.push(first.codePoint, first.codePoint);
    }
  }
  const ranges = rangesOf(pairs);
  const found = fold && ranges.length > 0 ? foldCase(ranges) : ranges;
  return negative ? complement(found) : found;
}

type Member =
  | { readonly codePoint: number; readonly end: number }
  | { readonly codePoint?: never; readonly ranges: Ranges; readonly end: number };

function memberAt(text: string, at: number, fold: boolean): Member {
  if (text[at] !== '\\') {
    const codePoint = text.codePointAt(at) as number;
    return { codePoint, end: at + (codePoint > 0xffff ? 2 : 1) };
  }
  const { text: escaped, codePoint, end } = readEscape(text, at);
  if (codePoint !== undefined) return { codePoint, end };
  return escaped === '\\b' ? { codePoint: 8, end } : { ranges: escapedClass(escaped, fold), end };
}

/** Returns the characters that `\b` takes for parts of a word. */
export function wordCharacters(fold: boolean): Ranges {
  return escapedClass('\\w', fold);
}

/** Returns the characters of `\d`, `\P{Lu}` and similar classes, obtained from the JavaScript engine itself. */
export function escapedClass(text: string, fold: boolean): Ranges {
  const key = `${fold ? 'i' : ''}${text}`;
  let found = scans.get(key);
  if (!found) {
    const pairs: number[] = [];
    for (const run of allCharacters().matchAll(new RegExp(`${text}+`, fold ? 'giu' : 'gu'))) pairs.push(...runRanges(run[0]));
    found = rangesOf(pairs);
    scans.set(key, found);
  }
  return found;
}

function runRanges(run: string): number[] {
  const first = run.codePointAt(0) as number;
  const low = run.charCodeAt(run.length - 1);
  const last = low >= 0xdc00 && low <= 0xdfff ? (run.codePointAt(run.length - 2) as number) : low;
  return first < 0xd800 && last > 0xdfff ? [first, 0xd7ff, 0xe000, last] : [first, last];
}

function allCharacters(): string {
  if (characters === undefined) {
    const parts: string[] = [];
    for (let point = 0; point <= 0x10ffff; point++) if (point < 0xd800 || point > 0xdfff) parts.push(String.fromCodePoint(point));
    characters = parts.join('');
  }
  return characters;
}
