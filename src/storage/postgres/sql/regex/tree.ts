import type { Ranges } from './ranges.ts';

/** A pattern as a tree. Greediness is left out, because only whether a text matches counts. */
export type Node =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | Repeat
  | { readonly kind: 'edge'; readonly of: 'start' | 'end' }
  | Look
  | Capture
  | Reference;

/** A repeat; `max` is Infinity if unbounded. */
export interface Repeat {
  readonly kind: 'repeat';
  readonly part: Node;
  readonly min: number;
  readonly max: number;
}

/** A lookahead or lookbehind; it consumes no text. */
export interface Look {
  readonly kind: 'look';
  readonly ahead: boolean;
  readonly negative: boolean;
  readonly part: Node;
}

/** A group that back references may refer to, by its number in the pattern. */
export interface Capture {
  readonly kind: 'capture';
  readonly index: number;
  readonly part: Node;
}

/** A back reference. */
export interface Reference {
  readonly kind: 'reference';
  /** Number of the group; 0 if there is no such group. */
  readonly to: number;
  readonly fold: boolean;
}

export const nothing: Node = { kind: 'all', parts: [] };
export const textStart: Node = { kind: 'edge', of: 'start' };
export const textEnd: Node = { kind: 'edge', of: 'end' };

/** Returns a concatenation. Merges repeats of the same characters, such as `.*.*`, which PostgreSQL compiles much faster. */
export function all(parts: readonly Node[]): Node {
  const out: Node[] = [];
  for (const part of parts) {
    const before = out.at(-1);
    if (before?.kind === 'repeat' && part.kind === 'repeat' && sameSet(before.part, part.part))
      out[out.length - 1] = { ...part, min: before.min + part.min, max: before.max + part.max };
    else out.push(part);
  }
  return out.length === 1 ? (out[0] as Node) : { kind: 'all', parts: out };
}

function sameSet(one: Node, other: Node): boolean {
  if (one.kind !== 'set' || other.kind !== 'set' || one.ranges.length !== other.ranges.length) return false;
  return one.ranges === other.ranges || one.ranges.every((point, at) => point === other.ranges[at]);
}

export function any(parts: readonly Node[]): Node {
  return parts.length === 1 ? (parts[0] as Node) : { kind: 'any', parts };
}

/** Returns a repeat, simplified if its part consumes no text, since PostgreSQL does not repeat that. */
export function repeat(part: Node, min: number, max: number): Node {
  if (max === 0) return nothing;
  if (takesNoText(part)) return min === 0 ? nothing : part;
  if (min === 1 && max === 1) return part;
  if (part.kind === 'repeat' && part.part.kind === 'set') {
    // `(?:a{0,2}){3,4}` is `a{0,8}`, which PostgreSQL compiles much faster.
    if (part.min === 0) return { ...part, max: part.max * max };
    if (part.min === 1 && part.max === Infinity) return { ...part, min };
  }
  return { kind: 'repeat', part, min, max };
}

/** Returns whether a node matches only positions or the empty text. */
export function takesNoText(node: Node): boolean {
  if (node.kind === 'look' || node.kind === 'edge') return true;
  if (node.kind === 'capture' || node.kind === 'repeat') return takesNoText(node.part);
  return (node.kind === 'all' || node.kind === 'any') && node.parts.every(takesNoText);
}

export function look(ahead: boolean, negative: boolean, part: Node): Node {
  return { kind: 'look', ahead, negative, part };
}

/** Returns a node for the start of the text, or a position after a newline. */
export function lineStart(newlines: Ranges): Node {
  return any([textStart, look(false, false, { kind: 'set', ranges: newlines })]);
}

/** Returns a node for the end of the text, or a position before a newline. */
export function lineEnd(newlines: Ranges): Node {
  return any([textEnd, look(true, false, { kind: 'set', ranges: newlines })]);
}

/** Returns a node for a position with a word character on one side only; with `inside`, on both sides or none. */
export function wordBoundary(word: Ranges, inside: boolean): Node {
  const part: Node = { kind: 'set', ranges: word };
  const both = (before: boolean, after: boolean) => all([look(false, !before, part), look(true, !after, part)]);
  return any([both(true, inside), both(false, !inside)]);
}
