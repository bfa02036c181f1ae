import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf } from './row-parser.ts';
import { sql, withDatabase } from './testing/open.ts';

/** Returns a row as the server sends it, after the bytes of another message. */
function message(values: readonly (string | null)[], before: Buffer): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(values.length);
  const parts = values.flatMap((value) => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
    return value === null ? [size] : [size, Buffer.from(value)];
  });
  return Buffer.concat([before, count, ...parts]);
}

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('');
const rows: readonly (readonly (string | null)[])[] = [
  [],
  [null],
  ['', 'a', null, ''],
  [ascii, ascii.repeat(3), '12345.5'],
  ['שלום', 'é', '😀', 'plain', '\u0080', '\u00ff', '\u{10ffff}', null],
  Array.from({ length: 300 }, (_, n) => (n % 3 === 0 ? `value ${n}` : n % 3 === 1 ? `ערך ${n}` : null)),
];

test('a row has the values that were sent, whatever their characters and wherever it stands', () => {
  for (const values of rows)
    for (const before of [Buffer.alloc(0), Buffer.from('שלום')]) {
      const bytes = message(values, before);
      assert.deepEqual(fieldsOf(bytes, before.length, bytes.length - before.length + 4), values);
    }
});

test('rows of all sizes come through a connection', () =>
  withDatabase(async ({ database }) => {
    const texts = ['', 'a', 'ש', 'a'.repeat(5_000), 'ש'.repeat(5_000), `${'a'.repeat(4_070)}ש`];
    for (const text of texts)
      assert.deepEqual(await database.short(sql('SELECT $1::text, NULL, 7, $1::text', text)), [[text, null, 7, text]]);
  }));
