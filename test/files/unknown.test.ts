/** A File object that was never uploaded to this system is 400 {code: 1} at once, and nothing is written. Reference: files.md#attach-a-file. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type At, assertUnknownFile, deleteFile, fileObject, publicUrl, uploadFile } from '../support/files.ts';
import { type Json, path, unique } from '../support/records.ts';
import { callSystem, type System } from '../systems/cli.ts';
import { addSystem } from './operator.ts';
import { samples } from './samples.ts';
import { onEachEngine } from './stores.ts';

onEachEngine((files) => {
  const { service, call } = files;
  let other: System;
  before(async () => {
    other = await addSystem(service());
  });
  const otherAt = (): At => ({ ...service(), ...other });

  /** Names that are no file of this system. */
  const wrong: [string, () => string | Promise<string>][] = [
    ['never uploaded', () => `${'0'.repeat(32)}_a.txt`],
    ["another system's", async () => (await uploadFile(otherAt())).name],
    [
      'deleted',
      async () => {
        const { name } = await files.upload();
        await deleteFile(service(), name);
        return name;
      },
    ],
    ['the local file name', () => files.upload('local.txt').then(() => 'local.txt')],
    ['the id alone', async () => (await files.upload()).name.slice(0, 32)],
    ['the id with another file name', async () => `${(await files.upload()).name.slice(0, 33)}other.txt`],
    ['cut', async () => (await files.upload()).name.slice(0, -1)],
    ['longer', async () => `${(await files.upload()).name}x`],
    ['in upper case', async () => (await files.upload('A.TXT')).name.toUpperCase().replace(/^\d{32}/, 'F'.repeat(32))],
    ['the url', async () => (await files.upload()).url],
    ['a path', () => '../../../etc/passwd'],
    ['a key of every object', () => '__proto__'],
    ['100,000 characters', () => 'x'.repeat(100_000)],
    ['a wildcard', async () => `${(await files.upload()).name.slice(0, 20)}%`],
  ];

  for (const [what, make] of wrong)
    test(`Errors/1: a name that is ${what}: {code: 1}, and nothing is written`, async () => {
      const F = { __type: 'File', name: await make(), url: publicUrl(service(), 'a.txt') };
      for (const type of ['File', 'PrivateFile']) {
        const table = await files.table({ F: type, N: 'Number' });
        const id = await files.create(table, { N: 1 });
        const before = await files.snapshot(table);
        for (const as of ['master', 'apiKey'] as const) {
          assertUnknownFile(await files.post(table, { F, N: 2 }, { as }));
          assertUnknownFile(await files.put(table, id, { F, N: 2 }, { as }));
          assertUnknownFile(await files.put(table, id, { F, N: { __op: 'Increment', amount: 1 }, Column: 'new' }, { as }));
        }
        assert.equal(await files.snapshot(table), before);
      }
    });

  test('Errors/1: no new column, no new table', async () => {
    const F = { __type: 'File', name: `${'0'.repeat(32)}_a.txt` };
    const table = await files.table();
    const before = await files.snapshot(table);
    assertUnknownFile(await files.post(table, { New: F }));
    assertUnknownFile(await files.post(table, { New: F, Other: 1 }));
    assert.equal(await files.snapshot(table), before);
    const fresh = unique('T');
    assertUnknownFile(await files.post(fresh, { New: F }));
    assert.equal(await files.fields(fresh), undefined);
  });

  test('Errors/1: one known and one unknown: neither is attached', async () => {
    const file = await files.upload('a.txt', 'text');
    const table = await files.table({ A: 'File', B: 'File' });
    assertUnknownFile(await files.post(table, { A: fileObject(file), B: { __type: 'File', name: 'never' } }));
    assert.equal((await fetch(publicUrl(service(), file.name))).status, 404);
  });

  test('Errors/1: a record that is not there, with a file that is: 101, and the file is not attached', async () => {
    const file = await files.upload('a.txt', 'text');
    const table = await files.table({ F: 'File' });
    const answer = await files.put(table, 'missing123', { F: fileObject(file) });
    assert.deepEqual([answer.status, answer.body.code], [404, 101]);
    assert.equal((await fetch(publicUrl(service(), file.name))).status, 404);
  });

  test('Batch: an unknown file fails its item alone', async () => {
    const file = await files.upload();
    const table = await files.table({ F: 'File' });
    const bodies = [{ F: fileObject(file) }, { F: { __type: 'File', name: 'never' } }, { N: 1 }];
    const requests = bodies.map((body) => ({ method: 'POST', path: path(table), body }));
    const { status, body } = await call('POST', '/platform/batch', { body: { requests } });
    assert.equal(status, 200);
    assert.deepEqual(
      body.map((item: Json) => item.error?.code ?? Object.keys(item)[0]),
      ['success', 1, 'success'],
    );
    assert.equal((await files.all(table)).length, 2);
  });

  for (const name of [undefined, null, '', 5, true, [], {}, ['a'], 'a\0', 'a\ud800'])
    test(`Wire types/File: a name that can be none (${JSON.stringify(name)}) is refused`, async () => {
      const table = await files.table({ F: 'File' });
      const { status, body, text } = await files.post(table, { F: { __type: 'File', name } });
      assert.equal(status, 400, text);
      assert.ok([1, 107, 111].includes(body.code), text);
      assert.deepEqual(await files.all(table), []);
    });

  test('Files: two systems of one service do not see each other', async () => {
    const file = await uploadFile(otherAt(), 'a.txt', 'theirs');
    const made = await callSystem(service(), other, 'POST', path('T'), { body: { F: fileObject(file) } });
    assert.equal(made.status, 201, made.text);
    assert.equal((await fetch(publicUrl(otherAt(), file.name))).status, 200);
    assert.equal((await fetch(publicUrl(service(), file.name))).status, 404);
    assert.equal((await fetch(`${service().url}/platform/files/${service().appId}/${file.name}`)).status, 404);
    assert.equal((await deleteFile(service(), file.name)).status, 200);
    assert.equal((await fetch(publicUrl(otherAt(), file.name))).status, 200);
  });

  test('the answer comes at once, and the server never fetches a url', async () => {
    let asked = 0;
    const elsewhere = createServer((_request, response) => {
      asked++;
      response.end(samples.png);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    after(() => elsewhere.close());
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/a.png`;
    const table = await files.table({ F: 'File', G: 'PrivateFile' });
    const since = performance.now();
    assertUnknownFile(await files.post(table, { F: { __type: 'File', name: 'a.png', url } }));
    assertUnknownFile(await files.post(table, { G: { __type: 'File', name: `${'0'.repeat(32)}_a.png`, url } }));
    assert.ok(performance.now() - since < 2_000);
    const file = await files.upload();
    await files.create(table, { F: { ...fileObject(file), url }, G: { ...fileObject(file), url } });
    assert.equal(asked, 0);
  });
});
