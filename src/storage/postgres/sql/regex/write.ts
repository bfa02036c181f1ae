import { memoByObject } from '../../../../kernel/memo.ts';
import { complement, type Ranges } from './ranges.ts';
import type { Node, Repeat } from './tree.ts';

/** Maximum count of a repeat in PostgreSQL. */
const MAX_COUNT = 255;

/**
 * Writes a tree as an advanced regular expression of PostgreSQL.
 * @param numbers new numbers of the referenced groups; all others become non-capturing
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

/** Concatenates texts. Separates a back reference from a following digit, which would be read as part of it. */
function inOrder(texts: readonly string[]): string {
  const full = texts.filter((text) => text !== '');
  return full.map((text, at) => (/\\\d+$/.test(full[at - 1] ?? '') && /^\d/.test(text) ? `(?:)${text}` : text)).join('');
}

/**
 * Whether a node can be repeated without parentheses. A back reference must not get any: PostgreSQL fails a reference to an empty text in a
 * repeated group.
 */
function isAtom(node: Node): boolean {
  return node.kind === 'reference' || (node.kind === 'set' && node.ranges.length > 0);
}

function repeatText(text: string, { min, max }: Repeat): string {
  if (max === Infinity) {
    if (min <= 1) return `${text}${min === 0 ? '*' : '+'}`;
    return min <= MAX_COUNT ? `${text}{${min},}` : `${times(text, min)}${text}*`;
  }
  if (max <= MAX_COUNT) return min === max ? times(text, min) : min === 0 ? upTo(text, max) : `${text}{${min},${max}}`;
  return times(text, min) + upTo(text, max - min);
}

/** Returns `text` repeated exactly `count` times. */
function times(text: string, count: number): string {
  if (count <= MAX_COUNT) return count === 0 ? '' : count === 1 ? text : `${text}{${count}}`;
  const rest = count % MAX_COUNT;
  return times(`(?:${text}{${MAX_COUNT}})`, (count - rest) / MAX_COUNT) + times(text, rest);
}

/** Returns `text` repeated up to `count` times. */
function upTo(text: string, count: number): string {
  if (count <= MAX_COUNT) return count === 0 ? '' : count === 1 ? `${text}?` : `${text}{0,${count}}`;
  const rest = count % MAX_COUNT;
  return times(`(?:${text}{0,${MAX_COUNT}})`, (count - rest) / MAX_COUNT) + upTo(text, rest);
}

/** Cached by object: sets that a parser caches are written often. */
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

/** Returns a character escaped so that it is safe anywhere in a pattern, also in brackets. */
function character(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  if (/^[A-Za-z0-9 _]$/.test(text)) return text;
  const hex = codePoint.toString(16);
  return codePoint > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
