import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileGone, type FileSource, fileContent } from './file-parts.ts';

/** A file that has other bytes at each read; `null`: it is gone. */
const filesOf = (...reads: (string | null)[]): FileSource => ({
  async open() {
    const text = reads.shift() ?? null;
    return text === null
      ? null
      : (async function* () {
          // In two chunks.
          yield Buffer.from(text.slice(0, 2));
          yield Buffer.from(text.slice(2));
        })();
  },
});

const textOf = async (read: () => AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(read())).toString();

test('the second read of a file returns what the first one has counted', async () => {
  const content = await fileContent(filesOf('bytes', 'bytes'), 'a');
  assert.deepEqual([content?.part.bytes, content?.part.count], [5, 1]);
  assert.equal(await textOf(content?.read ?? assert.fail()), 'bytes');
});

for (const [what, second] of [
  ['other bytes of the same length', 'other'],
  ['fewer bytes', 'byte'],
  ['more bytes', 'bytes!'],
  ['no bytes', ''],
  ['gone', null],
] as const)
  test(`a file that has changed between the reads is refused: ${what}`, async () => {
    const content = await fileContent(filesOf('bytes', second), 'a');
    await assert.rejects(textOf(content?.read ?? assert.fail()), FileGone);
  });

test('a file without bytes has no content', async () => {
  assert.equal(await fileContent(filesOf(null), 'a'), null);
});
