/** Uploads of Parse clients: JSON with the bytes as base64. Reference: files.md#json-upload. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, assertServed, credentials, filePath } from '../support/files.ts';
import { assertRefused, type Json } from '../support/records.ts';
import { badSession, denied, signUp } from '../support/users.ts';
import { onDisk, usage } from './operator.ts';
import { samples } from './samples.ts';
import { onEachEngine } from './stores.ts';

const base64 = samples.png.toString('base64');

onEachEngine((files) => {
  const { service } = files;
  /** Sends an upload like the SDK: text/plain, with all credentials in the body. */
  const send = (name: string, body: Json, headers: Record<string, string> = {}) =>
    ask(filePath(service(), name), {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const own = () => ({ _ApplicationId: service().appId, _ClientVersion: 'js5.0.0', _InstallationId: 'device' });

  test('JSON upload: the credentials of the body, and the bytes that base64 stands for', async () => {
    for (const more of [
      {},
      { _ContentType: 'image/png' },
      { _ContentType: 'text/html' },
      { fileData: { metadata: {}, tags: {} } },
      { _MasterKey: service().masterKey },
      { _apiKey: service().apiKey },
      { _method: 'POST' },
    ]) {
      const { status, headers, body, text } = await send('a.png', { base64, ...own(), ...more });
      assert.equal(status, 201, `${JSON.stringify(more)}: ${text}`);
      assert.deepEqual(Object.keys(body).sort(), ['name', 'url']);
      assert.equal(headers.location, body.url);
      assert.equal((await assertServed(body.url, samples.png)).headers['content-type'], 'image/png');
    }
  });

  test('JSON upload: as application/json too, and with a session token', async () => {
    const { token } = await signUp(files);
    const { status, body } = await send(
      'a.png',
      { base64, ...own(), _SessionToken: token },
      { 'Content-Type': 'application/json' },
    );
    assert.equal(status, 201);
    await assertServed(body.url, samples.png);
  });

  test('where a header names the application: a body with `base64` and no key that Parse does not send', async () => {
    for (const type of ['application/json', 'text/plain', 'application/json; charset=utf-8']) {
      const headers = { ...credentials(service()), 'Content-Type': type };
      const { status, body } = await send('a.png', { base64, _ContentType: 'image/png' }, headers);
      assert.equal(status, 201);
      await assertServed(body.url, samples.png);
    }
  });

  test('with a key that Parse does not send, or without `base64`, it is a file of JSON', async () => {
    const headers = { ...credentials(service()), 'Content-Type': 'application/json' };
    for (const body of [{ base64, other: 1 }, { Base64: base64 }, { name: 'x' }, [base64], base64]) {
      const bytes = JSON.stringify(body);
      const answer = await send('a.json', bytes, headers);
      assert.equal(answer.status, 201, answer.text);
      await assertServed(answer.body.url, bytes);
    }
  });

  test('of another type, JSON with `base64` is a file as any', async () => {
    const bytes = JSON.stringify({ base64 });
    const headers = { ...credentials(service()), 'Content-Type': 'application/octet-stream' };
    const answer = await send('a.json', bytes, headers);
    assert.equal(answer.status, 201, answer.text);
    await assertServed(answer.body.url, bytes);
  });

  for (const [what, broken] of [
    ['no base64', '%%%%'],
    ['cut', 'abcde'],
    ['a number', 5],
    ['null', null],
    ['an object', {}],
    ['with text after it', `${base64}!!`],
  ] as const)
    test(`JSON upload: broken base64 (${what}) is 400, and nothing is stored`, async () => {
      const stored = await onDisk(service());
      const answer = await send('a.txt', { base64: broken, ...own() });
      assertRefused(answer, { code: [107, 130] });
      assert.deepEqual(await onDisk(service()), stored);
    });

  test('white space, letters of URLs, missing padding and a data: URL are taken', async () => {
    const spelt = [`data:image/png;base64,${base64}`, base64.replace(/=+$/, ''), samples.png.toString('base64url')];
    for (const one of [...spelt, base64.replace(/.{20}/g, '$&\r\n '), ` ${base64}\n`]) {
      const { status, body, text } = await send('a.png', { base64: one, ...own() });
      assert.equal(status, 201, `${one.slice(0, 40)}: ${text}`);
      await assertServed(body.url, samples.png);
    }
  });

  test('JSON upload: no bytes: 400 code 130', async () => {
    assertRefused(await send('a.txt', { base64: '', ...own() }), { code: 130, error: 'Invalid file upload.' });
  });

  test('JSON upload: malformed JSON without an application is 403, as is an unknown one', async () => {
    for (const body of ['{"base64":', 'text', '', { base64 }, { base64, _ApplicationId: 'nobody' }]) {
      const answer = await send('a.txt', body);
      assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized' }], JSON.stringify(body));
    }
  });

  test('JSON upload: a wrong key is 119, a session that has ended 209', async () => {
    const refusal = denied('create', '_StoredFile');
    assertRefused(await send('a.png', { base64, ...own(), _MasterKey: 'wrong' }), refusal);
    assertRefused(await send('a.png', { base64, ...own(), _apiKey: service().masterKey }), refusal);
    assertRefused(await send('a.png', { base64, ...own(), _SessionToken: `r:${'0'.repeat(32)}` }), badSession);
  });

  test('the type is checked as of bytes', async () => {
    const used = await usage(files);
    for (const [name, bytes] of [
      ['a.jpg', samples.png],
      ['a.txt', samples.elf],
    ] as const) {
      const answer = await send(name, { base64: bytes.toString('base64'), _ContentType: 'image/jpeg', ...own() });
      assert.deepEqual([answer.status, answer.body], [403, { error: 'Invalid file type' }]);
    }
    assert.deepEqual(await usage(files), used);
  });

  test('Limits: some megabytes pass; over 32 MB is 413, an HTML page', async () => {
    const bytes = Buffer.alloc(10_000_000, 'some text ');
    const answer = await send('a.txt', { base64: bytes.toString('base64'), ...own() });
    assert.equal(answer.status, 201, answer.text.slice(0, 200));
    await assertServed(answer.body.url, bytes);
    const large = await send('a.txt', { base64: Buffer.alloc(33_554_433, 'text ').toString('base64'), ...own() });
    assert.equal(large.status, 413);
    assert.match(large.headers['content-type'] ?? '', /^text\/html/);
    assert.equal(large.body, undefined);
  });
});
