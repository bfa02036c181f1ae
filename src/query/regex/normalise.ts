/** A pattern in the syntax that RE2 reads, and its flags (subset of `ims`). */
export interface NormalPattern {
  readonly source: string;
  readonly flags: string;
}

const plainEscapes: ReadonlyMap<string, string> = new Map([
  ['e', '\\x1b'],
  ['Z', '(?:\\n?\\z)'],
  ['h', '[ \\t]'],
  ['R', '(?:\\r\\n|\\n|\\r)'],
]);

/**
 * Rewrites the PCRE syntax that RE2 lacks but can express otherwise: extended layout (`x`), quotes, comments, `\Z`, `\h`, `\R`,
 * `\uHHHH`, escaped letters of other scripts, leading `(?imsx)`.
 * @param options sorted subset of `imsx`
 */
export function normalise(pattern: string, options: string): NormalPattern {
  const flags = new Set(options);
  const leading = /^\(\?([imsx]+)\)/.exec(pattern);
  for (const flag of leading?.[1] ?? '') flags.add(flag);
  const extended = flags.delete('x');
  return { source: rewrite(pattern, leading?.[0].length ?? 0, extended), flags: [...flags].sort().join('') };
}

function rewrite(pattern: string, from: number, extended: boolean): string {
  let out = '';
  let inClass = false;
  let at = from;
  while (at < pattern.length) {
    const char = pattern[at] as string;
    if (char === '\\') {
      const [text, end] = rewriteEscape(pattern, at, inClass);
      out += text;
      at = end;
      continue;
    }
    if (inClass) {
      if (char === ']') inClass = false;
      if (char === '[' && pattern[at + 1] === ':') {
        const close = pattern.indexOf(':]', at + 2);
        if (close > 0) {
          out += pattern.slice(at, close + 2);
          at = close + 2;
          continue;
        }
      }
    } else if (char === '[') {
      inClass = true;
      const start = /^\[\^?\]?/.exec(pattern.slice(at, at + 3))?.[0] ?? char;
      out += start.replace(']', '\\]');
      at += start.length;
      continue;
    } else if (pattern.startsWith('(?#', at)) {
      at = after(pattern, ')', at);
      continue;
    } else if (pattern.startsWith("(?'", at)) {
      const close = pattern.indexOf("'", at + 3);
      out += `(?P<${pattern.slice(at + 3, close < 0 ? undefined : close)}>`;
      at = close < 0 ? pattern.length : close + 1;
      continue;
    } else if (extended && /\s/.test(char)) {
      at += 1;
      continue;
    } else if (extended && char === '#') {
      at = after(pattern, '\n', at);
      continue;
    }
    out += char;
    at += 1;
  }
  return out;
}

/** Returns the text for the escape at a position, and where it ends. */
function rewriteEscape(pattern: string, at: number, inClass: boolean): [string, number] {
  const letter = pattern[at + 1];
  if (letter === undefined) return ['\\', at + 1];
  if (letter === 'Q') {
    const close = pattern.indexOf('\\E', at + 2);
    const quoted = pattern.slice(at + 2, close < 0 ? undefined : close);
    return [quoted.replace(/[\\^$.|?*+()[\]{}-]/g, '\\$&'), close < 0 ? pattern.length : close + 2];
  }
  if (letter === 'E') return ['', at + 2];
  if (letter === 'u') {
    const hex = /^[0-9A-Fa-f]{4}/.exec(pattern.slice(at + 2, at + 6))?.[0];
    if (hex) return [`\\x{${hex}}`, at + 6];
  }
  if (inClass && letter === 'h') return [' \\t', at + 2];
  const known = inClass ? undefined : plainEscapes.get(letter);
  if (known) return [known, at + 2];
  return letter > '\x7f' ? [letter, at + 2] : [`\\${letter}`, at + 2];
}

function after(pattern: string, mark: string, from: number): number {
  const found = pattern.indexOf(mark, from);
  return found < 0 ? pattern.length : found + 1;
}
