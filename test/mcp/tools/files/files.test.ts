/** Agent tools Upload-Public-File, Attach-File, Upload-Private-File. Reference: files.md#upload, agents.md#uploads-by-agents. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { onDisk, operate } from '../../../files/operator.ts';
import { ask, deleteFile, publicUrl, uploadUrl } from '../../../support/files.ts';
import { date, type Json, useStore } from '../../../support/records.ts';
import { anyEngine, sampledEngines } from '../../../support/service.ts';
import { soon } from '../../../support/soon.ts';
import { byKey, byUser } from '../callers.ts';

const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64');
const named = (bytes: string | Uint8Array, fileName = 'note.txt', contentType = 'text/plain') => ({
  fileName,
  contentType,
  base64: base64(bytes),
});

for (const engine of sampledEngines())
  describe(`Upload-Public-File, Attach-File, Upload-Private-File on ${engine}`, () => {
    const store = useStore(engine);
    const tools = byKey(store);
    const at = () => store.service();
    let box: string | undefined;
    const table = async () => (box ??= await store.table({ Name: 'String', F: 'File', P: 'PrivateFile' }));

    test('an upload is read at its address, and publicly once a File field holds it', async () => {
      const { name, url, next } = await tools.use('Upload-Public-File', named('שלום'));
      assert.deepEqual([url, next], [uploadUrl(at(), name), 'Attach-File']);
      const read = await ask(url);
      assert.deepEqual([read.status, read.text, read.headers['content-type']], [200, 'שלום', 'text/plain; charset=utf-8']);
      assert.equal((await ask(publicUrl(at(), name))).status, 404);
      const objectId = await store.create(await table(), { Name: 'a' });
      const answer = await tools.use('Attach-File', { table: await table(), objectId, field: 'F', name, url });
      const held = { __type: 'File', name, url: publicUrl(at(), name), public: true };
      assert.deepEqual([answer.objectId, answer.F, answer.added], [objectId, held, undefined]);
      assert.deepEqual((await store.read(await table(), objectId)).F, held);
      assert.equal((await ask(held.url)).text, 'שלום');
    });

    // Independent of the engine.
    if (anyEngine.includes(engine))
      test('a file of 32 MB is taken, one byte more is not', async () => {
        const most = 32 * 1024 * 1024;
        const { url } = await tools.use('Upload-Public-File', named(Buffer.alloc(most, 'a')));
        assert.equal((await ask(url, { method: 'HEAD' })).headers['content-length'], String(most));
        await tools.refused('Upload-Public-File', named(Buffer.alloc(most + 1, 'a')), 413, /^The file is too large\. .*32 MB/);
      });

    test('uploads that are refused', async () => {
      const good = named('text');
      const cases: [object, number, RegExp][] = [
        [{ ...good, base64: 'no base64!' }, 107, /base64 is not valid/],
        [{ ...good, base64: '' }, 107, /base64 must not be empty/],
        [{ ...good, base64: '\n' }, 130, /^Invalid file upload\./],
        [{ ...good, fileName: 'a'.repeat(301) }, 122, /^Invalid file name\./],
        [{ ...good, fileName: 'run.exe' }, 403, /^Invalid file type/],
        [{ ...named('#!/bin/sh') }, 403, /^Invalid file type/],
        [{ ...named('text', 'picture.png', 'image/png') }, 403, /extension/],
        [{ fileName: 'a.txt', base64: 'YQ==' }, 107, /contentType is required/],
        [{ ...good, folder: 'x' }, 107, /folder is unknown/],
      ];
      for (const [args, code, text] of cases) await tools.refused('Upload-Public-File', args, code, text);
      const padded = await tools.use('Upload-Public-File', { ...good, base64: `data:text/plain;base64,${base64('text')}\n` });
      assert.equal((await ask(padded.url)).text, 'text');
    });

    test('a private file goes into its record, or is not left behind', async () => {
      const objectId = await store.create(await table(), { Name: 'b' });
      const place = { table: await table(), objectId, field: 'P' };
      const { P, updatedAt } = await tools.use('Upload-Private-File', { ...place, ...named('secret') });
      assert.equal(P.private, true);
      assert.deepEqual((await store.read(await table(), objectId)).P, P);
      assert.equal((await store.read(await table(), objectId)).updatedAt, updatedAt);
      const { masterKey } = at();
      assert.equal((await ask(P.url)).status, 302);
      assert.equal((await ask(P.url, { headers: { 'X-Platform-Master-Key': masterKey } })).text, 'secret');
      assert.equal((await ask(uploadUrl(at(), P.name))).status, 404);
      const before = await onDisk(at());
      const cases: [object, number, RegExp][] = [
        [{ ...place, objectId: 'nobodynone' }, 101, /^Object not found\./],
        [{ ...place, table: 'NoSuchTable' }, 103, /NoSuchTable/],
        [{ ...place, field: 'F' }, 107, /F is of type File.*PrivateFile/],
        [{ ...place, field: 'New' }, 107, /New is no field/],
        [{ ...place, field: 'P.x' }, 105, /P\.x/],
      ];
      for (const [args, code, text] of cases)
        await tools.refused('Upload-Private-File', { ...args, ...named('secret') }, code, text);
      assert.deepEqual(await onDisk(at()), before);
      assert.equal((await store.fields(await table())).New, undefined);
    });

    test('what Attach-File refuses: fields that are not there are not made, under a key neither', async () => {
      const { name, url } = await tools.use('Upload-Public-File', named('c'));
      const objectId = await store.create(await table(), { Name: 'c', Opened: date('2026-01-01T00:00:00.000Z'), Any: {} });
      const args = { table: await table(), objectId, field: 'F', name, url };
      await tools.refused('Attach-File', { ...args, name: `${'0'.repeat(32)}_none.txt` }, 1, /Upload-Public-File/);
      await tools.refused('Attach-File', { ...args, field: 'Name' }, 107, /Name is of type String.*File or PrivateFile/);
      await tools.refused('Attach-File', { ...args, field: 'Any' }, 107, /Any is of type Object/);
      await tools.refused('Attach-File', { ...args, field: 'Any.x' }, 105, /Any\.x/);
      await tools.refused('Attach-File', { ...args, field: '__proto__' }, 105);
      await tools.refused('Attach-File', { ...args, objectId: 'nobodynone' }, 101);
      await tools.refused('Attach-File', { ...args, url: undefined }, 107, /url is required/);
      await tools.refused(
        'Attach-File',
        { ...args, field: 'Made' },
        107,
        /Made is no field.*File or PrivateFile: F, P\. Next: Get-Schema/,
      );
      assert.equal((await store.fields(await table())).Made, undefined);
      const none = await store.table({ Name: 'String' });
      const bare = { ...args, table: none, objectId: await store.create(none, {}) };
      await tools.refused('Attach-File', bare, 107, /F is no field.*of which \S+ has none\. Next: Add-Fields/);
      await deleteFile(at(), name);
      await tools.refused('Attach-File', args, 1);
    });

    test('a signed-in user attaches to records that the user may write', async () => {
      const { use, refused, id } = await byUser(store, ['Sales']);
      const { name, url } = await use('Upload-Public-File', named('d'));
      const everybody = { requiresAuthentication: true };
      const own = await store.table({ F: 'File', P: 'PrivateFile', Hidden: 'PrivateFile' });
      const rules = { find: everybody, get: everybody, update: everybody, protectedFields: { '*': ['Hidden'] } };
      await store.call('PUT', `/platform/schemas/${own}`, { body: { classLevelPermissions: rules } });
      const objectId = await store.create(own, {});
      assert.equal((await use('Attach-File', { table: own, objectId, field: 'F', name, url })).F.public, true);
      assert.equal((await store.read(own, objectId)).updatedBy.objectId, id);
      assert.equal((await use('Upload-Private-File', { table: own, objectId, field: 'P', ...named('p') })).P.private, true);
      await refused('Attach-File', { table: own, objectId, field: 'New', name, url }, 107, /File or PrivateFile: F, P\. /);
      await refused(
        'Upload-Private-File',
        { table: own, objectId, field: 'Hidden', ...named('p') },
        119,
        /not allowed to access Hidden/,
      );
      const closed = await store.create(await table(), {});
      await refused(
        'Attach-File',
        { table: await table(), objectId: closed, field: 'F', name, url },
        119,
        /^Permission denied for action update/,
      );
      const reader = await byUser(store, ['Admin'], ['mcp:view', 'mcp:create']);
      await reader.refused('Upload-Private-File', { table: own, objectId, field: 'P', ...named('p') }, 119, /mcp:update/);
    });

    test('a full system takes nothing', async (t) => {
      const isFull = async (): Promise<Json> => (await tools.use('Get-System-Info')).outOfStorage;
      assert.equal(await isFull(), false);
      const objectId = await store.create(await table(), {});
      const quota = (...most: string[]) => operate({ service: at, env: () => ({}) }, ['quota', '--system', at().appId, ...most]);
      await quota('--bytes', '1');
      t.after(async () => {
        await quota('--none');
        await soon(async () => assert.equal(await isFull(), false));
      });
      await soon(async () => assert.equal(await isFull(), true));
      await tools.refused('Upload-Public-File', named('x'), 140, /storage of this system is used up.*Get-System-Info/);
      await tools.refused('Upload-Private-File', { table: await table(), objectId, field: 'P', ...named('x') }, 140);
    });
  });
