/** Escapes a text for use in a pattern. */
export const literal = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);

/** Matches a field that contains a text, regardless of case. */
export const contains = (field: string, text: string) => ({ [field]: { $regex: literal(text), $options: 'i' } });

/** Matches a field that equals a text, regardless of case and of spaces around words. */
export const equalsText = (field: string, text: string) => ({
  [field]: { $regex: `^\\s*${text.trim().split(/\s+/).map(literal).join('\\s+')}\\s*$`, $options: 'i' },
});

/** Normalises case and spaces for comparison. */
export const folded = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();
