/** Deletion of files. Reference: files.md#delete-a-file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  assertGone,
  assertServed,
  assertUnknownFile,
  credentials,
  deleteFile,
  fileObject,
  filePath,
  type Got,
} from '../support/files.ts';
import { signUp } from '../support/users.ts';
import { onDisk, usage } from './operator.ts';
import { onEachStore } from './stores.ts';

onEachStore((files) => {
  const { service } = files;
  const done = ({ status, bytes }: Got) => assert.deepEqual([status, bytes.length], [200, 0]);
  const refused = ({ status, body }: Got) =>
    assert.deepEqual([status, body], [403, { error: 'unauthorized: master key is required' }]);

  for (const as of ['master', 'apiKey'] as const)
    test(`Files/Delete: 200 with an empty body; its bytes are gone (${as})`, async () => {
      const [used, stored] = [await usage(files), await onDisk(service())];
      const { name, url } = await files.upload('a.txt', 'to be deleted');
      done(await deleteFile(service(), name, { as }));
      await assertGone(url);
      assert.deepEqual(await usage(files), used);
      assert.deepEqual(await onDisk(service()), stored);
      done(await deleteFile(service(), name, { as }));
      await assertGone(url);
      assert.deepEqual(await usage(files), used);
    });

  for (const name of ['never.txt', `${'0'.repeat(32)}_a.txt`, '..', 'a/b', '\0', '__proto__', 'x'.repeat(2_000), 'שלום'])
    test(`a file name that does not exist also returns 200: ${JSON.stringify(name).slice(0, 40)}`, async () => {
      done(await deleteFile(service(), name));
      done(await deleteFile(service(), name, { as: 'apiKey' }));
    });

  test('with the application id only, with a session and with a wrong key: 403', async () => {
    const { name, url } = await files.upload('a.txt', 'stays');
    const { token: session } = await signUp(files);
    refused(await deleteFile(service(), name, { as: 'anonymous' }));
    refused(await deleteFile(service(), name, { session }));
    for (const [header, key] of [
      ['X-Platform-Master-Key', 'wrong'],
      ['X-Platform-API-Key', service().masterKey],
      ['X-Platform-Master-Key', service().apiKey],
    ] as const)
      refused(await ask(filePath(service(), name), { method: 'DELETE', headers: { ...credentials(service()), [header]: key } }));
    refused(await deleteFile(service(), 'never.txt', { as: 'anonymous' }));
    await assertServed(url, 'stays');
  });

  test('an unknown application id is 403 {error: unauthorized}', async () => {
    const { status, body } = await deleteFile({ ...service(), appId: 'nobody' }, 'a.txt');
    assert.deepEqual([status, body], [403, { error: 'unauthorized' }]);
  });

  test('the local file name does not delete', async () => {
    const { url } = await files.upload('local.txt', 'stays');
    done(await deleteFile(service(), 'local.txt'));
    await assertServed(url, 'stays');
  });

  test('`_method: DELETE` over POST works too', async () => {
    const { masterKey, apiKey, appId } = service();
    for (const key of [{ _MasterKey: masterKey }, { _apiKey: apiKey }]) {
      const { name, url } = await files.upload('a.txt', 'text');
      const post = (body: object) =>
        ask(filePath(service(), name), { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify(body) });
      refused(await post({ _method: 'DELETE', _ApplicationId: appId }));
      await assertServed(url, 'text');
      done(await post({ _method: 'DELETE', _ApplicationId: appId, ...key }));
      await assertGone(url);
    }
  });

  test('States: a deleted file is attached no more, and its name is never given again', async () => {
    const { name, url } = await files.upload('a.txt', 'text');
    const table = await files.table({ F: 'File' });
    await deleteFile(service(), name);
    assertUnknownFile(await files.post(table, { F: fileObject({ name, url }) }));
    const again = await files.upload('a.txt', 'text');
    assert.notEqual(again.name, name);
    await assertGone(url);
  });

  test('the record keeps its value, and may be written on; whole forms that send it back change nothing', async () => {
    const file = await files.upload('a.txt', 'text');
    const { table, id } = await files.attached('File', file);
    const { F } = await files.read(table, id);
    await deleteFile(service(), file.name);
    await files.update(table, id, { N: 1 });
    assert.deepEqual((await files.read(table, id)).F, F);
    await files.update(table, id, { F, N: 2 });
    const record = await files.read(table, id);
    assert.deepEqual([record.F, record.N], [F, 2]);
    assertUnknownFile(await files.post(table, { F }));
    assertUnknownFile(await files.put(table, id, { G: F }));
    await assertGone(F.url);
    await files.update(table, id, { F: { __op: 'Delete' } });
    await files.remove(table, id);
  });

  test('Files/Delete: the body, and a query, say nothing', async () => {
    const { name, url } = await files.upload('a.txt', 'text');
    const headers = { ...credentials(service(), { as: 'master' }), 'Content-Type': 'application/json' };
    done(await ask(`${filePath(service(), name)}?x=1`, { method: 'DELETE', headers, body: '{}' }));
    await assertGone(url);
  });
});
