const escaped = /\\(?:[pPx]\{[^}]*\}|.)?/suy;
const characterClass = /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]?/suy;
/** Maximum size of a part of a pattern, and maximum count: larger than any pattern may cost, and sizes stay finite. */
const MAX_SIZE = 1_000_000_000;
const repeat = /\{(\d+)(?:,(\d*))?\}/y;

/**
 * Estimates the number of steps of a pattern with its counted repeats written out, which determines the cost of compiling and matching:
 * `(ab){3}` has six.
 * @param source as `normalise` returns it; the result for a malformed one is arbitrary
 */
export function expandedSize(source: string): number {
  const outside: number[] = [];
  let size = 0;
  let last = 0;
  let at = 0;
  const end = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.test(source) ? pattern.lastIndex : at + 1;
  };
  while (at < source.length) {
    const char = source[at] as string;
    repeat.lastIndex = at;
    const counts = char === '{' ? repeat.exec(source) : null;
    if (counts) {
      const times = Math.min(MAX_SIZE, Math.max(1, Number(counts[1]), Number(counts[2] ?? 0)));
      size += last * (times - 1);
      last = Math.min(MAX_SIZE, last * times);
      at = repeat.lastIndex;
    } else if (char === '(') {
      outside.push(size);
      size = 0;
      at++;
    } else if (char === ')') {
      // An empty group is compiled too, as often as it is counted.
      last = Math.min(MAX_SIZE, Math.max(1, size));
      size = last + (outside.pop() ?? 0);
      at++;
    } else {
      // A count after `*`, `+` or `?` applies to the atom before the sign.
      if (!'*+?'.includes(char)) last = 1;
      size++;
      at = char === '\\' ? end(escaped) : char === '[' ? end(characterClass) : at + 1;
    }
  }
  return outside.reduce((sum, part) => sum + part, size);
}
