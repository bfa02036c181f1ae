import { memoByObject } from '../../../../kernel/memo.ts';
import { complement, type Ranges } from './ranges.ts';
import type { Node, Repeat } from './tree.ts';

/** The most that PostgreSQL counts to. */
const maxCount = 255;

/**
 * A tree as an advanced regular expression of PostgreSQL.
 * @param numbers new numbers of the groups that are spoken of; all others capture nothing
 */
export function writePattern(node: Node, numbers: ReadonlyMap<number, number>): string {
  const write = (part: Node): string => {
    switch (part.kind) {
      case 'set':
        return setText(part.ranges);
      case 'all':
        return inOrder(part.parts.map((each) => (each.kind === 'any' ? `(?:${write(each)})` : write(each))));
      case 'any':
        return part.parts.map(write).join('|');
      case 'edge':
        return part.of === 'start' ? '\\A' : '\\Z';
      case 'look':
        return `(?${part.ahead ? '' : '<'}${part.negative ? '!' : '='}${write(part.part)})`;
      case 'capture':
        return numbers.has(part.index) ? `(${write(part.part)})` : `(?:${write(part.part)})`;
      case 'reference':
        return `\\${numbers.get(part.to)}`;
      case 'repeat':
        return repeatText(isAtom(part.part) ? write(part.part) : `(?:${write(part.part)})`, part);
    }
  };
  return write(node);
}

/** Texts one after the other. A digit after a back reference would be read as part of it. */
function inOrder(texts: readonly string[]): string {
  const full = texts.filter((text) => text !== '');
  return full.map((text, at) => (/\\\d+$/.test(full[at - 1] ?? '') && /^\d/.test(text) ? `(?:)${text}` : text)).join('');
}

/** What can be repeated as it is written. A back reference has to be: PostgreSQL fails one to an empty text in a repeated group. */
function isAtom(node: Node): boolean {
  return node.kind === 'reference' || (node.kind === 'set' && node.ranges.length > 0);
}

function repeatText(text: string, { min, max }: Repeat): string {
  if (max === Infinity) {
    if (min <= 1) return `${text}${min === 0 ? '*' : '+'}`;
    return min <= maxCount ? `${text}{${min},}` : `${times(text, min)}${text}*`;
  }
  if (max <= maxCount) return min === max ? times(text, min) : min === 0 ? upTo(text, max) : `${text}{${min},${max}}`;
  return times(text, min) + upTo(text, max - min);
}

/** `text` a number of times. */
function times(text: string, count: number): string {
  if (count <= maxCount) return count === 0 ? '' : count === 1 ? text : `${text}{${count}}`;
  const rest = count % maxCount;
  return times(`(?:${text}{${maxCount}})`, (count - rest) / maxCount) + times(text, rest);
}

/** `text` any number of times up to a bound. */
function upTo(text: string, count: number): string {
  if (count <= maxCount) return count === 0 ? '' : count === 1 ? `${text}?` : `${text}{0,${count}}`;
  const rest = count % maxCount;
  return times(`(?:${text}{0,${maxCount}})`, (count - rest) / maxCount) + upTo(text, rest);
}

/** Sets that a parser keeps are written often. */
const setText = memoByObject(makeSetText);

function makeSetText(ranges: Ranges): string {
  if (ranges.length === 0) return '(?!)';
  if (ranges.length === 2 && ranges[0] === ranges[1]) return character(ranges[0] as number);
  const negative = ranges[0] === 0 && ranges.at(-1) === 0x10ffff;
  if (negative && ranges.length === 2) return '.';
  const written = negative ? complement(ranges) : ranges;
  let out = negative ? '[^' : '[';
  for (let at = 0; at < written.length; at += 2) {
    const first = written[at] as number;
    const last = written[at + 1] as number;
    out += character(first);
    if (last > first) out += `${last > first + 1 ? '-' : ''}${character(last)}`;
  }
  return `${out}]`;
}

/** A character that is safe anywhere in a pattern, in brackets too. */
function character(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  if (/^[A-Za-z0-9 _]$/.test(text)) return text;
  const hex = codePoint.toString(16);
  return codePoint > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
