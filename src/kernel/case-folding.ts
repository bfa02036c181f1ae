/** Small ı has a capital, I, that is not its own: Unicode folds it to itself, and I to i. */
const DOTLESS_I = 'ı';

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * Returns a text without differences of case: by the full case folding of Unicode, which does not depend on a language, or a form that is equal for
 * the same texts. Accents, Hebrew points and the dot of i stay.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += foldCharacter(character);
  return folded;
}

/** By single characters: in a text the lower-case form of Σ depends on its neighbours. */
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
