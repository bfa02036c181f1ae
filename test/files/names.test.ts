/** Any file name is accepted, up to 300 characters; the service adds a prefix and percent-encodes UTF-8. Reference: files.md#upload. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  assertGone,
  assertServed,
  credentials,
  deleteFile,
  fileObject,
  publicUrl,
  recordUrl,
  shownFile,
  shownPrivate,
  upload,
  uploadUrl,
} from '../support/files.ts';
import { assertRefused } from '../support/records.ts';
import { onEachStore } from './stores.ts';

const names = [
  'plain.txt',
  'UPPER lower.TXT',
  'with space.txt',
  ' leading and trailing ',
  'שלום עולם.txt',
  '😀.txt',
  'é e\u0301.txt',
  '100%.txt',
  'a%2Fb.txt',
  '%00',
  '%',
  '%25',
  '..',
  '.',
  '...',
  '..hidden',
  '.hidden.txt',
  'a/b.txt',
  '/',
  '../../../etc/passwd',
  '..\\..\\windows',
  '\0',
  'a\0b.txt',
  'a\r\nSet-Cookie: b.txt',
  `"double" 'single'.txt`,
  'a+b.txt',
  'a#b.txt',
  'a?b=c&d.txt',
  'a;b,c.txt',
  '(~!*)@$^[]{}|`<>:=.txt',
  '<script>alert(1)</script>',
  'no extension',
  'noextension',
  'ends with a dot.',
  '-rf',
  'CON',
  'signed-url-put',
  '__proto__',
  'constructor',
  'testapp',
  '0'.repeat(32),
  `${'0'.repeat(32)}_a.txt`,
  'x'.repeat(300),
  'ש'.repeat(300),
];

/** Characters that are percent-encoded: all but letters, digits, `.`, `_` and `-`. */
const encoded = (name: string) =>
  encodeURIComponent(name).replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

onEachStore((files) => {
  const { service } = files;
  const master = () => credentials(service(), { as: 'master' });

  for (const fileName of names)
    test(`${JSON.stringify(fileName).slice(0, 60)}: stored, served, attached, deleted`, async () => {
      const text = JSON.stringify(fileName);
      const { name, url } = await files.upload(fileName, text);
      assert.match(name, /^[0-9a-f]{32}_/);
      assert.equal(name.slice(33), encoded(fileName));
      assert.equal(url, uploadUrl(service(), name));
      /** A file is found by its name, and by its name percent-encoded once more. */
      const both = [name, encodeURIComponent(name)];
      const served = async (of: (name: string) => string, headers = {}) => {
        for (const one of both) await assertServed(of(one), text, headers);
      };
      const gone = async (of: (name: string) => string, headers = {}) => {
        for (const one of both) await assertGone(of(one), headers);
      };
      await served((one) => uploadUrl(service(), one));

      const table = await files.table({ A: 'File', B: 'PrivateFile' });
      const id = await files.create(table, { A: fileObject({ name, url }), B: fileObject({ name, url }) });
      const place = { table, id, field: 'B' };
      const { A, B } = await files.read(table, id);
      assert.deepEqual(A, shownFile(service(), name));
      assert.deepEqual(B, shownPrivate(service(), name, place));
      await served((one) => publicUrl(service(), one));
      await served((one) => recordUrl(service(), one, place), master());

      const { status, bytes } = await ask(`${service().url}/platform/files/${both[fileName.length % 2]}`, {
        method: 'DELETE',
        headers: master(),
      });
      assert.deepEqual([status, bytes.length], [200, 0]);
      await gone((one) => uploadUrl(service(), one));
      await gone((one) => publicUrl(service(), one));
      await gone((one) => recordUrl(service(), one, place), master());
    });

  test('a name percent-encoded in full is the same name', async () => {
    const path = [...Buffer.from('a b.txt')].map((byte) => `%${byte.toString(16)}`).join('');
    const request = { method: 'POST', headers: credentials(service()), body: 'text' };
    const { status, body } = await ask(`${service().url}/platform/files/${path}`, request);
    assert.equal(status, 201);
    assert.equal(body.name.slice(33), 'a%20b.txt');
  });

  for (const fileName of ['x'.repeat(301), `${'x'.repeat(297)}.txt`, 'ש'.repeat(301), 'x'.repeat(5_000)])
    test(`names up to 300 characters: ${fileName.length} of ${fileName[0]}`, async () => {
      assertRefused(await upload(service(), fileName, 'text'), { code: 122, error: 'Invalid file name.' });
    });

  for (const path of ['%', '%zz', '100%.txt'])
    test(`any name is accepted: a \`%\` that encodes nothing is itself: ${path}`, async () => {
      const request = { method: 'POST', headers: credentials(service()), body: 'text' };
      const { status, body } = await ask(`${service().url}/platform/files/${path}`, request);
      assert.equal(status, 201);
      assert.equal(body.name.slice(33), path.replace('%', '%25'));
    });

  for (const path of ['%ff', 'a%E0%A4.txt'])
    test(`names are percent-encoded UTF-8: ${path} is none`, async () => {
      const headers = credentials(service());
      assert.equal((await ask(`${service().url}/platform/files/${path}`, { method: 'POST', headers, body: 'text' })).status, 400);
    });

  test('Files: without the first part of a name a caller gets nothing', async () => {
    const { name } = await files.upload('a.txt', 'secret');
    const wrong = `${name[0] === '0' ? '1' : '0'}${name.slice(1)}`;
    const guesses = [
      wrong,
      name.slice(33),
      name.slice(1),
      name.slice(0, 32),
      `${name.slice(0, 33)}b.txt`,
      `${name}x`,
      'a.txt',
      '..',
    ];
    for (const guess of [...guesses, '__proto__', '%2e%2e%2f', name.toUpperCase()]) await assertGone(uploadUrl(service(), guess));
    for (const guess of guesses) assert.equal((await deleteFile(service(), guess)).status, 200);
    await assertServed(uploadUrl(service(), name), 'secret');
  });
});
