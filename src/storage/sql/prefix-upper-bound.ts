/** Returns the smallest text greater, bytewise, than all texts that start with a prefix; `undefined` if there is none. */
export function prefixUpperBound(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) as number;
    if (point === 0x10ffff) continue;
    // Lone surrogates cannot be stored: U+E000 follows U+D7FF.
    return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}
