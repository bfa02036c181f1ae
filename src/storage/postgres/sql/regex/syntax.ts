import type { Ranges } from './ranges.ts';
import type { Node } from './tree.ts';

/** The flags in force at a place of a pattern. */
export interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
}

/** A part of a pattern, and where it ends in the source. */
export interface Read<T> {
  readonly value: T;
  readonly end: number;
}

/** What differs between the syntax of RE2 and that of JavaScript. Patterns are known to be valid. */
export interface Syntax {
  /** Sticky; a counted repeat: least, comma, most. */
  readonly counted: RegExp;
  readonly newlines: Ranges;
  /** A character that stands for itself. */
  literal(codePoint: number, flags: Flags): Ranges;
  /** The class in brackets at a place. */
  characterClass(source: string, at: number, flags: Flags): Read<Ranges>;
  /** What begins with a backslash at a place. */
  escape(source: string, at: number, flags: Flags, names: ReadonlyMap<string, number>): Read<Node>;
}
