/**
 * Property: anonymised phones and numbers of persons form the same groups as the originals, by the rule of forms and by that of searches.
 * Reference: clone.md#anonymised-clones.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { numberOf } from '../../src/crm/search/phones.ts';
import { digitsOf, phoneKey } from '../../src/kernel/phone-key.ts';
import { Anonymiser, type Kind } from '../../src/transfer/clone/anonymise/kinds.ts';
import { settings } from './settings.ts';

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
/** Few first digits, so that values meet. */
const start = fc.constantFrom(
  '',
  '0',
  '00',
  '000',
  '972',
  '0972',
  '00972',
  '9720',
  '972972',
  '97200972',
  '1',
  '9',
  '97',
  '05',
  '5',
);
const rest = fc.oneof(digits(0, 3), fc.constantFrom('501234567', '0501234567', '31234567', '972501234567', '7'), digits(7, 12));
const separated = (text: string, gap: string) => [...text].join(gap).replace(/^/, gap === '-' ? '+' : '');
const phone = fc.tuple(start, rest, fc.constantFrom('', '', '-', ' ')).map(([a, b, gap]) => separated(a + b, gap));

/** Asserts that two texts have equal keys exactly if what they became has. */
function assertSameGroups(kind: Kind, texts: readonly string[], keyOf: (text: string) => string | null): void {
  const change = new Anonymiser().changeFor(kind, { type: 'String' });
  const keys = texts.map((text) => [keyOf(text), keyOf(String(change(text)))] as const);
  const became = new Map<string | null, string | null>();
  for (const [before, after] of keys) {
    if (became.has(before)) assert.equal(after, became.get(before), `${before}`);
    became.set(before, after);
  }
  assert.equal(new Set(became.values()).size, became.size, 'others stay others');
}

for (const [what, kind, keyOf] of [
  ['phones, by the rule of forms', 'phone', phoneKey],
  ['phones, by the rule of searches', 'phone', numberOf],
  ['numbers, by their digits', 'digits', digitsOf],
] as const)
  test(what, { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(fc.array(phone, { minLength: 2, maxLength: 60, size: 'max' }), (texts) => assertSameGroups(kind, texts, keyOf)),
      settings(150),
    );
  });
