const escaped =
  /\\(?:[pP]\{[^}]*\}|u\{([0-9A-Fa-f]+)\}|u([dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|c([A-Za-z])|k<([^>]*)>|([1-9]\d*)|(.))/suy;
const controls: ReadonlyMap<string, number> = new Map([
  ['0', 0],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);

/** An escape of JavaScript's syntax with the flag `u`. */
export interface Escape {
  readonly text: string;
  /** The character it represents; absent for a class of characters, an assertion or a reference. */
  readonly codePoint?: number;
  readonly name?: string;
  readonly index?: number;
  readonly end: number;
}

/** Reads the escape at a position. */
export function readEscape(source: string, at: number): Escape {
  escaped.lastIndex = at;
  const [text, braced, pair, four, two, control, name, index, char] = escaped.exec(source) as RegExpExecArray;
  const read = { text, end: at + text.length };
  const hex = braced ?? four ?? two;
  if (hex !== undefined) return { ...read, codePoint: Number.parseInt(hex, 16) };
  if (pair !== undefined) return { ...read, codePoint: JSON.parse(`"\\u${pair}"`).codePointAt(0) };
  if (control !== undefined) return { ...read, codePoint: control.charCodeAt(0) % 32 };
  if (name !== undefined) return { ...read, name };
  if (index !== undefined) return { ...read, index: Number(index) };
  if (char === undefined || /[dDsSwWbB]/.test(char)) return read;
  return { ...read, codePoint: controls.get(char) ?? (char.codePointAt(0) as number) };
}
