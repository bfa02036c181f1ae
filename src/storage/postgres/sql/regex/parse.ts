import { fail } from '../../../../errors/fail.ts';
import { complement, everything } from './ranges.ts';
import type { Flags, Syntax } from './syntax.ts';
import type { Node } from './tree.ts';
import * as tree from './tree.ts';

const groupHead = /\((?:\?(?:(<?)([=!])|P?<([^>]+)>|([A-Za-z]*)(?:-([A-Za-z]*))?([:)])))?/y;
const groupName = /\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?P?<(?![=!])([^>]+)>/gs;
/** Maximum nesting, the same as RE2's; functions over the tree recurse for each level. */
const MAX_DEPTH = 1000;

/** A group that is not closed yet. */
interface Open {
  readonly branches: Node[];
  parts: Node[];
  flags: Flags;
  /** Returns the group's node, given its content. */
  readonly close: (content: Node) => Node;
}

/**
 * Parses a valid pattern, in either syntax, to a tree. (`@eslint-community/regexpp` parses only JavaScript's, which few patterns need, and recurses
 * for each level of nesting.)
 * @param flags subset of `ims`
 * @throws badQuery (102) for a pattern that nests too deeply
 */
export function parsePattern(source: string, flags: string, syntax: Syntax): Node {
  const names = groupNames(source);
  const outer: Open[] = [];
  let open: Open = { branches: [], parts: [], flags: withFlags(noFlags, flags, true), close: (content) => content };
  let groups = 0;
  let at = 0;
  const content = () => tree.any([...open.branches, tree.all(open.parts)]);
  while (at < source.length) {
    const char = source[at] as string;
    const counts = countsAt(source, at, syntax);
    if (counts) {
      open.parts.push(tree.repeat(open.parts.pop() ?? tree.nothing, counts.min, counts.max));
      at = counts.end;
      if (source[at] === '?') at += 1;
    } else if (char === '(') {
      groupHead.lastIndex = at;
      const [head, behind, look, name, on, off, last] = groupHead.exec(source) as RegExpExecArray;
      at += head.length;
      let inside = withFlags(open.flags, on ?? '', true);
      inside = withFlags(inside, off ?? '', false);
      if (last === ')') {
        open.flags = inside;
        continue;
      }
      const index = name !== undefined || head === '(' ? ++groups : 0;
      const close = (part: Node): Node =>
        look ? tree.look(behind === '', look === '!', part) : index ? { kind: 'capture', index, part } : part;
      outer.push(open);
      if (outer.length > MAX_DEPTH) fail('badQuery', 'Invalid regular expression: expression nests too deeply');
      open = { branches: [], parts: [], flags: inside, close };
    } else if (char === ')') {
      const group = open.close(content());
      open = outer.pop() as Open;
      open.parts.push(group);
      at += 1;
    } else if (char === '|') {
      open.branches.push(tree.all(open.parts));
      open.parts = [];
      at += 1;
    } else {
      const atom = atomAt(source, at, open.flags, syntax, names);
      open.parts.push(atom.value);
      at = atom.end;
    }
  }
  return content();
}

function atomAt(source: string, at: number, flags: Flags, syntax: Syntax, names: ReadonlyMap<string, number>) {
  const char = source[at];
  if (char === '^') return { value: flags.lines ? tree.lineStart(syntax.newlines) : tree.textStart, end: at + 1 };
  if (char === '$') return { value: flags.lines ? tree.lineEnd(syntax.newlines) : tree.textEnd, end: at + 1 };
  if (char === '.') return { value: set(flags.dotAll ? everything : complement(syntax.newlines)), end: at + 1 };
  if (char === '\\') return syntax.escape(source, at, flags, names);
  if (char === '[') {
    const { value, end } = syntax.characterClass(source, at, flags);
    return { value: set(value), end };
  }
  const point = source.codePointAt(at) as number;
  return { value: set(syntax.literal(point, flags)), end: at + (point > 0xffff ? 2 : 1) };
}

function set(ranges: readonly number[]): Node {
  return { kind: 'set', ranges };
}

/** Returns the repeat at a position, if there is one. */
function countsAt(source: string, at: number, syntax: Syntax): { min: number; max: number; end: number } | undefined {
  const char = source[at];
  if (char === '*' || char === '+') return { min: char === '+' ? 1 : 0, max: Infinity, end: at + 1 };
  if (char === '?') return { min: 0, max: 1, end: at + 1 };
  if (char !== '{') return undefined;
  syntax.counted.lastIndex = at;
  const counts = syntax.counted.exec(source);
  if (!counts) return undefined;
  const [whole, lower, comma, upper] = counts;
  const min = Number(lower);
  return { min, max: comma === undefined ? min : upper ? Number(upper) : Infinity, end: at + whole.length };
}

const noFlags: Flags = { fold: false, lines: false, dotAll: false };

function withFlags(flags: Flags, letters: string, on: boolean): Flags {
  return {
    fold: letters.includes('i') ? on : flags.fold,
    lines: letters.includes('m') ? on : flags.lines,
    dotAll: letters.includes('s') ? on : flags.dotAll,
  };
}

/** Returns the numbers of named groups; a reference may precede its group. Names of several groups map to 0. */
function groupNames(source: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  let groups = 0;
  for (const [head, name] of source.matchAll(groupName)) {
    if (!head.startsWith('(')) continue;
    groups += 1;
    if (name !== undefined) names.set(name, names.has(name) ? 0 : groups);
  }
  return names;
}
