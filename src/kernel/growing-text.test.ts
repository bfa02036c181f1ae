import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowingText } from './growing-text.ts';

/** Bytes of every kind, in an order that repeats: characters of one to four bytes, and bytes that belong to none. */
function bytesOf(length: number, seed: number): Buffer {
  const parts = ['a', 'é', 'ש', '😀', '\u0000'].map((text) => Buffer.from(text));
  parts.push(
    Buffer.from([0xc3]),
    Buffer.from([0xf0, 0x9f]),
    Buffer.from([0x80]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xff]),
  );
  const chosen: Buffer[] = [];
  let size = 0;
  for (let n = seed; size < length; n = (n * 1_103_515_245 + 12_345) % 2_147_483_648) {
    const part = parts[(n >> 8) % parts.length] as Buffer;
    chosen.push(part);
    size += part.length;
  }
  return Buffer.concat(chosen);
}

for (const pieceBytes of [1_000, 65_536, 262_143, 1_000_000])
  test(`a text that comes in pieces of ${pieceBytes} bytes is that of its bytes together`, () => {
    for (const seed of [1, 2, 3]) {
      const bytes = bytesOf(900_000, seed);
      const text = new GrowingText();
      for (let at = 0; at < bytes.length; at += pieceBytes) text.add(bytes.subarray(at, at + pieceBytes));
      assert.ok(text.text() === bytes.toString());
    }
  });

test('a byte order mark at the beginning is left out, of short and of long texts', () => {
  for (const length of [1, 600_000]) {
    const text = new GrowingText();
    text.add(Buffer.from(`\ufeff${'a'.repeat(length)}`));
    text.add(Buffer.from('\ufeffb'));
    assert.ok(text.text() === `${'a'.repeat(length)}\ufeffb`);
  }
});
