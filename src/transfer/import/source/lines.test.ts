import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../../kernel/limits.ts';
import { type Line, readLines } from './lines.ts';

/** Reads a text that arrives in chunks of this many bytes. */
async function linesOf(text: string, size: number): Promise<Line[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return (await Array.fromAsync(readLines(chunks()))).flat();
}

const cases: [text: string, lines: Line[]][] = [
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\nb\r\nc', ['a', '', 'b\r', 'c']],
  ['\n\n', ['', '']],
  ['שלום\n😀 ok\nlast', ['שלום', '😀 ok', 'last']],
];
for (const [text, lines] of cases)
  test(`lines of ${JSON.stringify(text)}, wherever its chunks end`, async () => {
    for (let size = 1; size <= Buffer.byteLength(text) + 1; size++) assert.deepEqual(await linesOf(text, size), lines);
  });

test('a line that is too long is let go, those around it are not', async () => {
  const longest = 'x'.repeat(limits.bodyBytes);
  const found = await linesOf(`a\n${longest}\n${longest}y\nb`, 1 << 20);
  assert.deepEqual(
    found.map((line) => line?.length),
    [1, limits.bodyBytes, undefined, 1],
  );
  assert.deepEqual(await linesOf(`${longest}y`, 1 << 20), [null]);
});
