const words: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', '1', 'on', 'כן', 'אמת'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', '0', 'off', 'לא', 'שקר'].map((word) => [word, false] as const),
]);

/** Parses a Boolean as people write it, in English or Hebrew; `null` if the text is none. */
export function readBooleanText(text: string): boolean | null {
  return words.get(text.trim().toLowerCase()) ?? null;
}
