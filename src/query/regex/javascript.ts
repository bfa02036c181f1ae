import type { NormalPattern } from './normalise.ts';

const posixClasses: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7f'],
  ['blank', '\\t '],
  ['cntrl', '\\x00-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`{-~'],
  ['space', '\\t\\n\\v\\f\\r '],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
]);
const anchors: ReadonlyMap<string, string> = new Map([
  ['\\A', '(?<![^])'],
  ['\\z', '(?![^])'],
]);

/** Converts a normalised pattern to JavaScript's syntax, for the patterns that RE2 cannot run. */
export function javascriptSource({ source }: NormalPattern): string {
  return source.replace(
    /\\x\{([0-9A-Fa-f]{1,6})\}|\[:([a-z]+):\]|\(\?P<|\\./gsu,
    (whole, hex: string | undefined, posix: string | undefined) => {
      if (hex !== undefined) return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
      if (posix !== undefined) return posixClasses.get(posix) ?? whole;
      return whole === '(?P<' ? '(?<' : (anchors.get(whole) ?? whole);
    },
  );
}
