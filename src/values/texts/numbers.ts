/** As JSON and programs write it. */
const exact = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
/** Currency signs, direction marks and spaces around a number. */
const around = /[\s\u00a0\u200e\u200f₪$€£%]|ש["״']ח|NIS|ILS|USD|EUR/g;
const grouped = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** Parses a number as people write it: `1234.5`, `1,234.50 ₪`, `(12)` for minus twelve; `null` if the text is none. */
export function readNumberText(text: string): number | null {
  if (exact.test(text)) return finite(Number(text));
  const bare = text.replace(around, '');
  const [, inBrackets] = /^\((.+)\)$/.exec(bare) ?? [];
  const plain = inBrackets ?? bare;
  if (!grouped.test(plain)) return null;
  return finite(Number(plain.replaceAll(',', '')) * (inBrackets === undefined ? 1 : -1));
}

const finite = (number: number): number | null => (Number.isFinite(number) ? number : null);
