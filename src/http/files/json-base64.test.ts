import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { decodeJsonBase64 } from './json-body.ts';

/** Decodes the text between the quotes in pieces of the given size. */
function decode(text: string, size: number): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  return buffer(decodeJsonBase64(pieces()));
}

const content = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xfb, 0xef, 0xbe]), randomBytes(1_000)]);
const base64 = content.toString('base64');

for (const [what, text] of [
  ['as it is', base64],
  ['with slashes escaped', base64.replaceAll('/', '\\/')],
  ['with letters escaped', base64.replace(/[+/=]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)],
  ['in lines', base64.replace(/.{76}/g, '$&\\r\\n')],
  ['with letters of addresses', content.toString('base64url')],
] as const)
  test(`base64 in JSON, whatever its pieces: ${what}`, async () => {
    for (const size of [1, 2, 3, 5, 7, 76, 10_000]) assert.ok(content.equals(await decode(text, size)), `${size}`);
  });

test('a head is passed over', async () => assert.ok(content.equals(await decode(`data:image\\/png;base64,${base64}`, 10_000))));

for (const text of [
  'QQ==QQ==',
  'QUJD=',
  'QUJDR',
  'QQ=',
  'QQ\\',
  'QQ\\"',
  'Q\\\\/Q',
  'QQ\nQQ',
  'QQ\\u00',
  'QQ\\u003c',
  'QQ==\\u003d',
  'é',
])
  test(`no base64 in JSON: ${text}`, async () => {
    for (const size of [1, 2, 3, 100]) await assert.rejects(decode(text, size), { key: 'badUpload' }, `${size}`);
  });
