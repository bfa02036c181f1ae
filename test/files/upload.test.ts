/** Uploads: who may, and what is refused. Reference: files.md#upload. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, assertServed, credentials, filePath, upload } from '../support/files.ts';
import { assertRefused, unique } from '../support/records.ts';
import { badSession, denied, signUp } from '../support/users.ts';
import { onDisk, usage } from './operator.ts';
import { onEachEngine } from './stores.ts';

onEachEngine((files) => {
  const { service, call } = files;
  const refused = (answer: Awaited<ReturnType<typeof ask>>, status: number, error: string) =>
    assert.deepEqual([answer.status, answer.body], [status, { error }]);

  for (const as of ['anonymous', 'apiKey', 'master'] as const)
    test(`Files/Upload: application id suffices (${as}); 201 {url, name}`, async () => {
      const bytes = unique('by ');
      const { status, headers, body } = await upload(service(), 'a.txt', bytes, { as, type: 'text/plain' });
      assert.equal(status, 201);
      assert.deepEqual(Object.keys(body).sort(), ['name', 'url']);
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      // The answer has the `url` as its `Location`.
      assert.equal(headers.location, body.url);
      assert.ok(headers['x-request-id']);
      await assertServed(body.url, bytes);
    });

  test('Files/Upload: a session token; one that has ended is 209', async () => {
    const { token: session } = await signUp(files);
    assert.equal((await upload(service(), 'a.txt', 'by a user', { session })).status, 201);
    await call('POST', '/platform/logout', { session });
    assertRefused(await upload(service(), 'a.txt', 'by a user', { session }), badSession);
  });

  test('a wrong key is 119, and nothing is stored', async () => {
    const before = await onDisk(service());
    for (const [header, key] of [
      ['X-Platform-Master-Key', 'wrong'],
      ['X-Platform-API-Key', service().masterKey],
    ] as const)
      assertRefused(await upload(service(), 'a.txt', 'text', { headers: { [header]: key } }), denied('create', '_StoredFile'));
    assert.deepEqual(await onDisk(service()), before);
  });

  test('missing or unknown application id: 403 {error: unauthorized}', async () => {
    refused(await ask(filePath(service(), 'a.txt'), { method: 'POST', body: 'text' }), 403, 'unauthorized');
    refused(await upload({ ...service(), appId: 'nobody' }, 'a.txt', 'text'), 403, 'unauthorized');
  });

  test('no bytes: 400 code 130', async () => {
    assertRefused(await upload(service(), 'a.txt', ''), { code: 130, error: 'Invalid file upload.' });
    assertRefused(await upload(service(), 'a.txt', '', { chunked: true }), { code: 130, error: 'Invalid file upload.' });
    assertRefused(await ask(filePath(service(), 'a.txt'), { method: 'POST', headers: credentials(service()) }), {
      code: 130,
      error: 'Invalid file upload.',
    });
  });

  test('a form is refused, since its envelope would become the file', async () => {
    const form = new FormData();
    form.set('file', new Blob(['text']), 'a.txt');
    const whole = new Response(form);
    const [type, body] = [whole.headers.get('content-type') ?? '', Buffer.from(await whole.arrayBuffer())];
    assertRefused(await upload(service(), 'a.txt', body, { type }), {
      code: 107,
      error: 'Invalid upload: the body has to be the bytes of the file, not a form',
    });
  });

  for (const type of [
    undefined,
    '',
    'nonsense',
    'text/plain; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ])
    test(`Files/Upload: raw bytes, whatever the Content-Type says (${type})`, async () => {
      const headers = { ...credentials(service()), ...(type !== undefined && { 'Content-Type': type }) };
      for (const chunked of [false, true]) {
        const { status, body, text } = await ask(filePath(service(), 'a.txt'), {
          method: 'POST',
          headers,
          body: 'a=b&c',
          chunked,
        });
        assert.equal(status, 201, text);
        await assertServed(body.url, 'a=b&c');
      }
    });

  test('Files/Upload: JSON and text that begins with a byte order mark are bytes as others', async () => {
    for (const [name, bytes] of [
      ['a.json', '\ufeff{"a": 1}'],
      ['b.json', '{"base": 1}'],
      ['c.json', '[1, 2]'],
      ['d.json', '  "text"  '],
      ['e.txt', '{not json'],
    ] as const) {
      const { url } = await files.upload(name, bytes, { type: 'application/json' });
      await assertServed(url, bytes);
    }
  });

  test('States: an upload that breaks off leaves nothing', async () => {
    const [used, stored] = [await usage(files), await onDisk(service())];
    const headers = { ...credentials(service()), 'Content-Length': '100000' };
    const sent = request(filePath(service(), 'a.txt'), { method: 'POST', headers });
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.on('error', () => {});
    sent.write(Buffer.alloc(50_000, 'text '));
    await wait(100);
    sent.destroy();
    await closed;
    for (let n = 0; n < 50 && (await onDisk(service())).length > stored.length; n++) await wait(20);
    assert.deepEqual(await onDisk(service()), stored);
    assert.deepEqual(await usage(files), used);
  });

  test('files cannot be addressed in a batch', async () => {
    const used = await usage(files);
    const { name, url } = await files.upload('a.txt', 'stays');
    for (const [method, at] of [
      ['POST', 'a.txt'],
      ['DELETE', name],
      ['POST', 'signed-url-put/a.txt'],
    ]) {
      const requests = [
        { method, path: `/platform/files/${at}`, body: { base64: 'YQ==', ContentType: 'text/plain', ContentLength: 1 } },
      ];
      const { status, body, text } = await call('POST', '/platform/batch', { body: { requests } });
      assert.equal(status === 200 ? body[0].error.code : body.code, 107, text);
    }
    await assertServed(url, 'stays');
    assert.equal((await usage(files)).files, used.files + 1);
  });

  test('Conventions: CORS is open; the answer of an upload and what the url serves are for every origin', async () => {
    const Origin = 'https://crm.example';
    const { headers, body } = await upload(service(), 'a.txt', 'text', { headers: { Origin } });
    assert.equal(headers['access-control-allow-origin'], Origin);
    const read = await assertServed(body.url, 'text', { Origin });
    assert.equal(read.headers['access-control-allow-origin'], Origin);
  });

  for (const [method, at] of [
    ['GET', 'a.txt'],
    ['PUT', 'a.txt'],
    ['GET', ''],
  ] as const)
    test(`no endpoint lists files: ${method} /files/${at} is 404`, async () => {
      const headers = credentials(service(), { as: 'master' });
      assert.equal((await ask(`${service().url}/platform/files/${at}`, { method, headers })).status, 404);
    });
});
