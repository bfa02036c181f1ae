/** `_RequestLog` has rows for uploads and deletes. Reference: audit.md#request-log. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { Marked } from '../audit/log.ts';
import { credentials } from '../support/files.ts';
import { type Json, master } from '../support/records.ts';
import { newPolicy, useLarge } from './large.ts';
import { samples } from './samples.ts';
import { onEachEngine } from './stores.ts';

onEachEngine((files) => {
  const { service } = files;
  useLarge(files);
  const rowOf = ({ method, path, statusCode }: Json) => [method, path, statusCode];

  test('_RequestLog: a row for each upload and each delete, refused ones too', async () => {
    const client = new Marked(service());
    const type = { 'Content-Type': 'text/plain' };
    await client.ask({ path: '/platform/files/a.txt', body: 'some text', headers: type });
    await client.asMaster({ path: '/platform/files/a.txt', body: 'some text', headers: type });
    await client.ask({ path: '/platform/files/a.png', body: 'some text', headers: type });
    await client.ask({ path: '/platform/files/a.txt', headers: type });
    const { name } = await files.upload();
    await client.ask({ method: 'DELETE', path: '/platform/files/never.txt' });
    await client.asMaster({ method: 'DELETE', path: `/platform/files/${name}` });
    const rows = await client.rows();
    assert.deepEqual(rows.map(rowOf), [
      ['POST', '/platform/files/a.txt', 201],
      ['POST', '/platform/files/a.txt', 201],
      ['POST', '/platform/files/a.png', 403],
      ['POST', '/platform/files/a.txt', 400],
      ['DELETE', '/platform/files/never.txt', 403],
      ['DELETE', `/platform/files/${name}`, 200],
    ]);
    assert.deepEqual([rows[0].contentLength, rows[0].usingMK, rows[0].user], [9, false, undefined]);
    assert.deepEqual([rows[1].usingMK, rows[1].user], [true, master]);
  });

  test('_RequestLog: a large upload policy and its refusal; reads of files are none', async () => {
    const client = new Marked(service());
    const path = '/platform/files/signed-url-put/a.txt';
    await client.ask({ path, body: { ContentType: 'text/plain', ContentLength: 5 } });
    await client.asMaster({ path, body: { ContentType: 'text/plain', ContentLength: 5 } });
    const file = await files.upload();
    const { table, id } = await files.attached('PrivateFile', file);
    const { F } = await files.read(table, id);
    for (const method of ['GET', 'HEAD']) await client.asMaster({ method, path: new URL(F.url).pathname });
    assert.deepEqual((await client.rows()).map(rowOf), [
      ['POST', path, 400],
      ['POST', path, 200],
    ]);
  });

  test('_RequestLog: no key, no token, no bytes and no signature is in a row', async () => {
    const client = new Marked(service());
    const secret = 'a very secret text of a file';
    const { masterKey, apiKey, appId } = service();
    const type = { 'Content-Type': 'text/plain' };
    const base64 = Buffer.from(secret).toString('base64');
    await client.ask({
      path: '/platform/files/a.txt',
      body: { base64, _ApplicationId: appId, _MasterKey: masterKey },
      headers: type,
    });
    await client.ask({ path: '/platform/files/b.txt', body: { base64, _ApplicationId: appId, _apiKey: apiKey }, headers: type });
    await client.asMaster({ path: '/platform/files/c.txt', body: secret, headers: type });
    const file = await files.upload();
    const { table, id } = await files.attached('PrivateFile', file);
    const { F } = await files.read(table, id);
    await client.ask({ path: new URL(F.url).pathname, body: { _MasterKey: masterKey } });
    const policy = await newPolicy(service(), 'd.txt', 100);
    const form = new FormData();
    for (const [name, value] of Object.entries(policy.fields)) form.append(name, value);
    form.append('file', new Blob([secret]));
    await fetch(policy.url, { method: 'POST', body: form, headers: { 'User-Agent': client.mark } });
    const rows = await client.rows();
    assert.ok(rows.length >= 3);
    const text = JSON.stringify(rows);
    const signatures = Object.entries(policy.fields).filter(([name]) => /signature|policy|token|key/i.test(name));
    for (const one of [masterKey, apiKey, secret, base64, ...signatures.map(([, value]) => value)])
      assert.equal(text.includes(one), false, one.slice(0, 40));
  });

  test('_RequestLog: an upload that is too large is a row with its status', async () => {
    const client = new Marked(service());
    const headers = { ...credentials(service()), 'User-Agent': client.mark, 'Content-Length': '40000000' };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${service().url}/platform/files/a.txt`, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode);
        sent.destroy();
      });
      sent.once('error', reject);
      sent.write(samples.text);
    });
    assert.equal(status, 413);
    assert.deepEqual((await client.rows()).map(rowOf), [['POST', '/platform/files/a.txt', 413]]);
  });
});
