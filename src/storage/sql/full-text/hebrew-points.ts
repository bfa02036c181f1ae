/**
 * Hebrew points and accents, and the combining grapheme joiner used among them; not the marks that separate words (U+05BE, U+05C0, U+05C3, U+05C6).
 */
const points = /[\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e]+/g;
/** Precomposed letters with points. */
const pointedLetters = /[\ufb1d\ufb1f\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufb4e]/g;

/**
 * Removes Hebrew points from a text, for an index that would treat them as separators. Stored indexes depend on the exact result, so this must never
 * change: the characters are listed, and Unicode guarantees that their properties stay.
 */
export function withoutPoints(text: string): string {
  return text.replace(points, '').replace(pointedLetters, (letter) => letter.normalize('NFD').charAt(0));
}
