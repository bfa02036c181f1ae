import type { Ranges } from './ranges.ts';
import type { Node } from './tree.ts';

/** The flags in effect at a position of a pattern. */
export interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
}

/** A parsed part of a pattern, and its end in the source. */
export interface Read<T> {
  readonly value: T;
  readonly end: number;
}

/** What differs between the syntaxes of RE2 and JavaScript. Patterns are known to be valid. */
export interface Syntax {
  /** Sticky expression of a counted repeat; groups: minimum, comma, maximum. */
  readonly counted: RegExp;
  readonly newlines: Ranges;
  /** Returns the characters that a literal character matches. */
  literal(codePoint: number, flags: Flags): Ranges;
  /** Parses the class in brackets at a position. */
  characterClass(source: string, at: number, flags: Flags): Read<Ranges>;
  /** Parses the escape at a position. */
  escape(source: string, at: number, flags: Flags, names: ReadonlyMap<string, number>): Read<Node>;
}
