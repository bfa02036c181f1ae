import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressesIn, addressesOf, type ListPiece } from './addresses.ts';

const named = (name: string, address: string) => ({ name, address });
const bare = (...addresses: string[]) => addresses.map((address) => named('', address));

for (const [list, addresses] of [
  ['', []],
  [' ,; ', []],
  [' a@b.example\r\n', bare('a@b.example')],
  ['a@b.example, c@d.example;e@f.example', bare('a@b.example', 'c@d.example', 'e@f.example')],
  ['a@b.example, A@B.example', bare('a@b.example')],
  ['<a@b.example>', bare('a@b.example')],
  ['דנה כהן <a@b.example>', [named('דנה כהן', 'a@b.example')]],
  ['"Cohen, Dana" <a@b.example>; c@d.example', [named('Cohen, Dana', 'a@b.example'), named('', 'c@d.example')]],
  ["'a@b.example' <a@b.example>", [named("'a@b.example'", 'a@b.example')]],
  ['Team: a@b.example, c@d.example;', bare('a@b.example', 'c@d.example')],
  ['a@דוגמה.co.il', bare('a@דוגמה.co.il')],
] as const)
  test(`addresses: ${JSON.stringify(list)}`, () => assert.deepEqual(addressesOf(list), { addresses, invalid: null }));

for (const [list, invalid] of [
  ['dana', 'dana'],
  ['a@b.example, dana', 'dana'],
  ['dana, a@b.example', 'dana'],
  ['a@b.example c@d.example', 'c@d.example'],
  ['a@b.example <c@d.example>', 'a@b.example'],
  ['a@b.example>, <c@d.example', 'a@b.example>'],
  ['a@@b.example', 'a@@b.example'],
  ['@b.example', '@b.example'],
  ['"a b"@c.example', '"a b"@c.example'],
  ['Dana <>', 'Dana'],
  ['a@b.example\nBcc: c@d.example', 'a@b.example Bcc: c@d.example'],
  ['a@b.example\u2028c@d.example', 'a@b.example c@d.example'],
  ['x'.repeat(500), `${'x'.repeat(100)}…`],
  [`${'x'.repeat(400)}@b.example`, `${'x'.repeat(100)}…`],
] as const)
  test(`none: ${JSON.stringify(list).slice(0, 60)}`, () => assert.deepEqual(addressesOf(list), { addresses: [], invalid }));

const value = (...texts: string[]) => texts;
for (const [what, pieces, addresses] of [
  ['a value', [value(' a@b.example\n')], bare('a@b.example')],
  [
    'a value among others',
    ['c@d.example; ', value('a@b.example'), ',e@f.example'],
    bare('c@d.example', 'a@b.example', 'e@f.example'),
  ],
  ['an empty value', ['c@d.example, ', value(''), value()], bare('c@d.example')],
  ['of two values one is empty', [value(''), value('a@b.example')], bare('a@b.example')],
  ['an address for each element', [value('a@b.example', '', 'c@d.example')], bare('a@b.example', 'c@d.example')],
  ['the same address twice', [value('a@b.example'), ',', value('A@b.example')], bare('a@b.example')],
  ['a part of an address', [value('info'), '@b.example'], bare('info@b.example')],
  ['a name of the list', ['"Sales, Inc" <', value('a@b.example'), '>'], [named('Sales, Inc', 'a@b.example')]],
  ['a name that is a value', ['"', value('CEO, x'), '" <', value('a@b.example'), '>'], bare('a@b.example')],
  ['a name that a value has a part in', ['Dana ', value('CEO" <e@vil.example>, "'), ' <a@b.example>'], bare('a@b.example')],
  ['the address as its own name', ['"', value('a@b.example'), '" <', value('a@b.example'), '>'], bare('a@b.example')],
] as const)
  test(`filled: ${what}`, () => assert.deepEqual(addressesIn(pieces as readonly ListPiece[]), { addresses, invalid: null }));

for (const text of [
  'a@b.example, c@d.example',
  'a@b.example;c@d.example',
  'a@b.example c@d.example',
  '"N" <a@b.example>',
  'N <a@b.example>',
  '<a@b.example>',
  'a@b.example>, <c@d.example',
  'a@b.example (x)',
  'Team: a@b.example;',
  'a@b.example\r\nBcc: c@d.example',
  'dana',
])
  test(`filled: ${JSON.stringify(text)} is refused wherever it stands`, () => {
    const invalid = text.replace(/\s+/g, ' ');
    const of = (...pieces: ListPiece[]) => addressesIn(pieces);
    assert.deepEqual(of(value(text)), { addresses: [], invalid });
    assert.deepEqual(of('x@y.example, ', value(text)), { addresses: [], invalid });
    assert.deepEqual(of(value('x@y.example', text)).addresses, []);
    assert.deepEqual(of('<', value(text), '>').addresses, []);
    assert.deepEqual(of(value(text), '@y.example').addresses.length, text === 'dana' ? 1 : 0);
  });

test('whatever values bring, entries are as many as the list has itself', () => {
  const piece = fc.constantFrom(
    'a@b.example',
    'c',
    ',',
    ';',
    ':',
    '<',
    '>',
    '"',
    "'",
    '(',
    ')',
    '\\',
    ' ',
    '\n',
    '@',
    '＠',
    '﹐',
  );
  const values = fc.array(piece, { maxLength: 8 }).map((texts) => texts.join(''));
  fc.assert(
    fc.property(values, values, (one, other) => {
      const { addresses } = addressesIn(['"Own" <', value(one), '>, ', value(other), ', x@y.example']);
      assert.ok(addresses.length <= 3);
      for (const { name, address } of addresses) {
        assert.ok(name === '' || (name === 'Own' && address === one.trim().normalize('NFKC')), name);
        assert.ok(
          [one, other, 'x@y.example'].some((text) => text.trim().normalize('NFKC') === address),
          address,
        );
      }
    }),
    { numRuns: 2_000 },
  );
});

test('whatever is read as an address has one @ and nothing that mail headers are written with', () => {
  const piece = fc.constantFrom(
    'a',
    'b.example',
    '@',
    ',',
    ';',
    ':',
    '<',
    '>',
    '"',
    '(',
    ')',
    '[',
    ']',
    '\\',
    ' ',
    '\n',
    '\r',
    '\0',
    '＠',
    '﹐',
    'א',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      for (const { name, address } of addressesOf(pieces.join('')).addresses) {
        assert.match(address, /^[^@\s<>()[\]\\,;:"\p{C}]+@[^@\s<>()[\]\\,;:"\p{C}]+$/u);
        assert.doesNotMatch(name, /[\r\n\0]/);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('values that come to more than a list may have are none, and are not looked at', () => {
  const value = Array.from({ length: 30_000 }, (_, n) => `a${n}@b.example`);
  const list = addressesIn(Array<ListPiece>(40).fill(value));
  assert.deepEqual(list, { addresses: [], invalid: 'a0@b.example' });
});

test('a list of any length is read in no time', () => {
  const start = performance.now();
  for (const entry of ['a@b.example,', '<', '"', '(', ':', 'a ', '[@']) addressesOf(entry.repeat(1_000_000 / entry.length));
  assert.ok(performance.now() - start < 1_000);
});
