import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressesOf } from './addresses.ts';

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
  test(`addresses: ${JSON.stringify(list)}`, () => assert.deepEqual(addressesOf(list), { addresses, wrong: null }));

for (const [list, wrong] of [
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
  test(`none: ${JSON.stringify(list).slice(0, 60)}`, () => assert.deepEqual(addressesOf(list), { addresses: [], wrong }));

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

test('a list of any length is read in no time', () => {
  const start = performance.now();
  for (const entry of ['a@b.example,', '<', '"', '(', ':', 'a ', '[@']) addressesOf(entry.repeat(1_000_000 / entry.length));
  assert.ok(performance.now() - start < 1_000);
});
