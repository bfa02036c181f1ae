import { isJson } from '../../../kernel/json.ts';

/** A token of JSON: a text, a number or word, or a mark. */
const token = /"(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"/g;

/** An object or list that is open: where inside it the text is. */
interface Open {
  readonly isList: boolean;
  /** Of an object: its present key. Of a list: the present position. */
  key: string;
}

/**
 * Returns the line on which a place in a JSON text begins, counted from 1.
 * @param text valid JSON
 * @param path keys and positions of lists, down to the place
 * @returns the line of the deepest key that is there
 */
export function lineOf(text: string, path: readonly string[]): number {
  let offset = 0;
  const open: Open[] = [];
  let depth = 0;
  let isKey = false;
  const reach = (at: number) => {
    if (open.length !== depth + 1 || open.length > path.length) return;
    if (!open.every(({ key }, index) => key === path[index])) return;
    depth++;
    offset = at;
  };
  for (const { 0: found, index } of text.matchAll(token)) {
    const inner = open.at(-1);
    if (inner && isKey && found.startsWith('"')) {
      inner.key = JSON.parse(found) as string;
      isKey = false;
      reach(index);
    } else if (found === '{' || found === '[') {
      const isList = found === '[';
      open.push({ isList, key: isList ? '0' : '' });
      isKey = !isList;
      if (isList) reach(index + 1);
    } else if (found === '}' || found === ']') {
      open.pop();
      isKey = false;
    } else if (found === ',' && inner) {
      isKey = !inner.isList;
      if (inner.isList) inner.key = String(Number(inner.key) + 1);
      if (inner.isList) reach(index + 1);
    }
    if (depth === path.length) break;
  }
  return positionAt(text, offset).line;
}

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'nothing';

/**
 * Returns where a text stops being JSON: the first token that may not stand in its place, or the end. Engines report it in words that differ, and not
 * always with a position.
 */
export function faultIn(text: string): { readonly line: number; readonly column: number } {
  const open: boolean[] = [];
  let expected: Expected = 'value';
  for (const { 0: found, index } of text.matchAll(token)) {
    const next = after(found, expected, open);
    if (next === null) return positionAt(text, index);
    expected = next;
  }
  return positionAt(text, text.trimEnd().length);
}

/** @param open for each open object or list whether it is a list; changed. @returns what comes next; `null` if the token may not stand here */
function after(found: string, expected: Expected, open: boolean[]): Expected | null {
  const closed = (): Expected => (open.length === 0 ? 'nothing' : 'commaOrEnd');
  switch (expected) {
    case 'value':
    case 'valueOrEnd':
      if (found === '{' || found === '[') {
        open.push(found === '[');
        return found === '[' ? 'valueOrEnd' : 'keyOrEnd';
      }
      if (found === ']' && expected === 'valueOrEnd') {
        open.pop();
        return closed();
      }
      return isJson(found) ? closed() : null;
    case 'key':
    case 'keyOrEnd':
      if (found === '}' && expected === 'keyOrEnd') {
        open.pop();
        return closed();
      }
      return found.startsWith('"') && isJson(found) ? 'colon' : null;
    case 'colon':
      return found === ':' ? 'value' : null;
    case 'commaOrEnd': {
      const isList = open.at(-1);
      if (found === ',') return isList ? 'value' : 'key';
      if (found !== (isList ? ']' : '}')) return null;
      open.pop();
      return closed();
    }
    case 'nothing':
      return null;
  }
}

/** Returns line and column of an offset, counted from 1. */
function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
