/** Hebrew points and accents, and the joiner that stands among them; not the marks there that separate words (U+05BE, U+05C0, U+05C3, U+05C6). */
const points = /[\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e]+/g;
/** Letters that have their points in them. */
const pointedLetters = /[\ufb1d\ufb1f\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufb4e]/g;

/**
 * A text without Hebrew points, for an index that takes them for spaces between words. An index holds what this made of a text and finds it again
 * by the same, so this must never change: the characters are named, and Unicode changes nothing about those that there are.
 */
export function withoutPoints(text: string): string {
  return text.replace(points, '').replace(pointedLetters, (letter) => letter.normalize('NFD').charAt(0));
}
