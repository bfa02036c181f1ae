import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serialize } from 'bson';
import { bsonRecords } from './bson-records.ts';
import { jsonRecords } from './json-records.ts';

/** Splits bytes into pieces of a size. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const sizes = [1, 2, 7, 1_000_000];
const objects = [{ a: '}]"\\', b: [{ c: '{' }, ['x']] }, { text: 'שלום 😀\u2028' }, {}];
const texts = objects.map((object) => JSON.stringify(object));

const forms: [title: string, text: string][] = [
  ['one a line', `${texts.join('\n')}\n`],
  ['one after the other, after a mark', `\uFEFF ${texts.join('')}`],
  ['an array', `[ ${texts.join(' ,\r\n')} ]`],
  ['an export', `{ "results" : [${texts.join(',')}], "count": 3, "more": [{"no": "record"}] }`],
];
for (const [title, text] of forms)
  test(`objects of a JSON file: ${title}`, async () => {
    for (const size of sizes) assert.deepEqual(await all(jsonRecords(pieces(Buffer.from(text), size), 'f')), texts, `${size}`);
  });

test('a file of nothing holds nothing', async () => {
  for (const text of ['', ' \n', '[]', '{"results":[]}'])
    assert.deepEqual(await all(jsonRecords(pieces(Buffer.from(text), 3), 'f')), []);
});

const broken: [text: string, says: RegExp][] = [
  ['{"a":1', /ends in the middle/],
  ['[{"a":1}', /ends in the middle/],
  ['{"results":[{"a":"', /ends in the middle/],
  ['{"a":1} x', /something else than objects/],
  ['[1]', /something else than objects/],
  ['"text"', /something else than objects/],
];
for (const [text, says] of broken)
  test(`no file of objects: ${text}`, () => assert.rejects(all(jsonRecords(pieces(Buffer.from(text), 2), 'f')), says));

test('documents of a BSON file, in pieces of any size', async () => {
  const documents = objects.map((object) => Buffer.from(serialize(object)));
  for (const size of sizes) {
    const found = await all(bsonRecords(pieces(Buffer.concat(documents), size), 'f'));
    assert.deepEqual(
      found.map((bytes) => Buffer.from(bytes)),
      documents,
    );
  }
  await assert.rejects(all(bsonRecords(pieces(Buffer.concat(documents).subarray(0, -1), 5), 'f')), /ends in the middle/);
});
