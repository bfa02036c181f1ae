/** Parses a number as typed in either language: `1,234.5`, `-3`, `2e6`; ignores currency and per cent signs. `null`: not a number. */
export function parseNumber(text: string): number | null {
  const bare = text.replace(/[\s\u200e\u200f\u2066-\u2069₪$€%]/g, '').replace('−', '-');
  const plain = /^-?\d{1,3}(,\d{3})+(\.\d*)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const number = Number(plain);
  return Number.isFinite(number) ? number : null;
}
