/** A pattern that matches a text as it is. */
export const literal = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);

/** A constraint that a field contains a text, whatever the case of its letters. */
export const contains = (field: string, text: string) => ({ [field]: { $regex: literal(text), $options: 'i' } });

/** A constraint that a field is a text, whatever the case of its letters and the spaces around its words. */
export const equalsText = (field: string, text: string) => ({
  [field]: { $regex: `^\\s*${text.trim().split(/\s+/).map(literal).join('\\s+')}\\s*$`, $options: 'i' },
});

/** By which texts are compared: without regard to case and spaces. */
export const folded = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();
