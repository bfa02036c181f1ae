/** Small ı has a capital, I, that is not its own: Unicode folds it to itself, and I to i. */
const DOTLESS_I = 'ı';

/** Stands for it meanwhile: texts from outside do not have it, and it has no case. */
const PLACEHOLDER = '\0';

/** The lower-case form of Σ at the end of a word, and elsewhere. */
const [FINAL_SIGMA, SIGMA] = ['ς', 'σ'];

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * Returns a text without differences of case: by the full case folding of Unicode, which does not depend on a language, or a form that is equal for
 * the same texts. Accents, Hebrew points and the dot of i stay.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  if (text.includes(PLACEHOLDER)) return Array.from(text, foldCharacter).join('');
  const held = replaceUnits(text, [[DOTLESS_I, PLACEHOLDER]]);
  return replaceUnits(held.toLowerCase().toUpperCase().toLowerCase(), [
    [FINAL_SIGMA, SIGMA],
    [PLACEHOLDER, DOTLESS_I],
  ]);
}

/** Replaces characters of one UTF-16 unit. Several times as fast as `replaceAll` in long texts that have many of them. */
function replaceUnits(text: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  const due = replacements.filter(([from]) => text.includes(from));
  if (due.length === 0) return text;
  const bytes = Buffer.from(text, 'utf16le');
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  for (const [from, to] of due) {
    const [old, made] = [from.charCodeAt(0), to.charCodeAt(0)];
    for (let at = 0; at < units.length; at++) if (units[at] === old) units[at] = made;
  }
  return bytes.toString('utf16le');
}

/** By single characters, where the lower-case form of Σ does not depend on its neighbours. */
const foldCharacter = (character: string): string =>
  character === DOTLESS_I ? character : character.toLowerCase().toUpperCase().toLowerCase();

/** Returns all characters beyond ASCII that `foldCase` changes, with their folded forms. Takes about 100 ms. */
export function foldedCharacters(): [character: string, folded: string][] {
  const changed: [string, string][] = [];
  for (let point = 0x80; point <= 0x1ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    const folded = foldCharacter(character);
    if (folded !== character) changed.push([character, folded]);
  }
  return changed;
}
