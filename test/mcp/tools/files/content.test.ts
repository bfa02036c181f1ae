/** Reference: tools.md#get-file-content, files.md#private-files. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ask, deleteFile, fileObject, uploadFile } from '../../../support/files.ts';
import { type Json, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser } from '../callers.ts';

/** Starts with the signature of a PNG image. */
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(60_000, 1)]);

for (const engine of sampledEngines())
  describe(`Get-File-Content on ${engine}`, () => {
    const store = useStore(engine);
    const tools = byKey(store);
    let box: string | undefined;
    const table = async () => (box ??= await store.table({ Name: 'String', F: 'File', P: 'PrivateFile' }));
    /** Creates a record with a file; returns the tool's arguments for it. */
    const holding = async (field: string, fileName: string, bytes: string | Uint8Array): Promise<Json> => {
      const file = await uploadFile(store.service(), fileName, bytes);
      return { table: await table(), objectId: await store.create(await table(), { [field]: fileObject(file) }), field };
    };
    const read = (place: Json, more: object = {}): Promise<Json> => tools.use('Get-File-Content', { ...place, ...more });

    test('text is read as it is written', async () => {
      const cases: [string, Uint8Array, string, string][] = [
        ['a.txt', Buffer.from('שלום'), 'שלום', 'text/plain; charset=utf-8'],
        ['a.json', Buffer.from('{"a":"ב"}'), '{"a":"ב"}', 'application/json'],
        ['a.csv', Buffer.from('\ufeffa,b\n1,2'), 'a,b\n1,2', 'text/csv; charset=utf-8'],
        ['utf16.txt', Buffer.from('\ufeffשלום', 'utf16le'), 'שלום', 'text/plain; charset=utf-16'],
        ['hebrew.txt', Buffer.from('f9ece5ed20f2e5ece9', 'hex'), 'שלום עולם'.replace('עולם', 'עולי'), 'text/plain'],
        ['a.html', Buffer.from('<html><b>x</b></html>'), '<html><b>x</b></html>', 'text/html; charset=utf-8'],
      ];
      for (const field of ['F', 'P'])
        for (const [fileName, bytes, text, contentType] of cases)
          assert.deepEqual(await read(await holding(field, fileName, bytes)), {
            fileName,
            contentType,
            size: bytes.length,
            text,
          });
    });

    test('a part of what is long, and that it is one', async () => {
      const long = await holding('F', 'long.txt', 'אב'.repeat(20_000));
      const most = await read(long);
      assert.deepEqual([most.truncated, most.text.length, most.size], [true, 24_000, 80_000]);
      assert.deepEqual([(await read(long, { maxBytes: 5 })).text, (await read(long, { maxBytes: 5 })).truncated], ['אב', true]);
      const quotes = await read(await holding('F', 'quotes.txt', '"\n'.repeat(30_000)));
      assert.equal(quotes.truncated, true);
      assert.ok(Buffer.byteLength(JSON.stringify(quotes)) < 61_000);
      assert.match(quotes.text, /^("\n)+"?$/);
    });

    test('other bytes as base64, or by their address', async () => {
      const picture = await holding('F', 'a.png', png);
      const reported = await read(picture);
      assert.deepEqual([reported.text, reported.contentType, reported.size], [undefined, 'image/png', png.length]);
      assert.match(reported.hint, /base64/);
      const part = await read(picture, { as: 'base64', maxBytes: 100 });
      assert.deepEqual([part.base64, part.truncated, part.bytes], [png.subarray(0, 100).toString('base64'), true, 100]);
      const all = await read(picture, { as: 'base64' });
      assert.ok(png.subarray(0, all.bytes).equals(Buffer.from(all.base64, 'base64')) && all.bytes > 40_000);
      const link = await read(picture, { as: 'link' });
      assert.deepEqual([link.access, (await ask(link.url)).bytes.length], ['public', png.length]);
      const secret = await read(await holding('P', 'b.png', png), { as: 'link' });
      assert.match(secret.access, /credentials/);
      assert.equal((await ask(secret.url)).status, 302);
    });

    test('fields that hold no file, and files that are gone', async () => {
      const place = await holding('F', 'a.txt', 'a');
      const { F } = await store.read(place.table, place.objectId);
      await tools.refused('Get-File-Content', { ...place, field: 'P' }, 404, /^File not found/);
      await tools.refused('Get-File-Content', { ...place, field: 'Name' }, 107, /of type String/);
      await tools.refused('Get-File-Content', { ...place, field: 'None' }, 107, /no field/);
      await tools.refused('Get-File-Content', { ...place, field: 'F,P' }, 105);
      await tools.refused('Get-File-Content', { ...place, objectId: 'nobodynone' }, 101);
      await tools.refused('Get-File-Content', { ...place, maxBytes: 48_001 }, 107, /48000/);
      await tools.refused('Get-File-Content', { ...place, as: 'xml' }, 107, /text, base64, link/);
      await deleteFile(store.service(), F.name);
      for (const as of ['text', 'link']) await tools.refused('Get-File-Content', { ...place, as }, 404, /^File not found/);
    });

    test('an upload’s own address serves it until a PrivateFile field has held it', async () => {
      const { use, refused } = await byUser(store, ['Sales'], ['mcp:view']);
      const file = await uploadFile(store.service(), 'own.txt', 'its own');
      const { url } = file;
      assert.equal((await read({ url })).text, 'its own');
      assert.deepEqual(
        [(await use('Get-File-Content', { url })).text, (await read({ url }, { as: 'link' })).url],
        ['its own', url],
      );
      await store.create(await table(), { F: fileObject(file) });
      assert.equal((await read({ url })).text, 'its own', 'public by now');
      const objectId = await store.create(await table(), { P: fileObject(file) });
      await refused('Get-File-Content', { url }, 404, /^File not found/);
      await tools.refused('Get-File-Content', { url }, 404, /^File not found/);
      assert.equal((await read({ table: await table(), objectId, field: 'P' })).text, 'its own');
      const { url: free } = await uploadFile(store.service(), 'free.txt', 'free');
      for (const other of [
        free.replace('testapp', 'other'),
        free.replace('/files/', '/x/'),
        `${free}/Accounts/a/F`,
        'http://x/',
        'x',
      ])
        await tools.refused('Get-File-Content', { url: other }, 404, /^File not found/);
      await tools.refused('Get-File-Content', { objectId, field: 'P' }, 107, /table is required/);
    });

    test('the right to the record and the field decides', async () => {
      const { use, refused } = await byUser(store, ['Sales'], ['mcp:view']);
      const everybody = { requiresAuthentication: true };
      const own = await store.table({ P: 'PrivateFile', Hidden: 'PrivateFile' });
      const rules = { find: everybody, get: everybody, protectedFields: { '*': ['Hidden'] } };
      await store.call('PUT', `/platform/schemas/${own}`, { body: { classLevelPermissions: rules } });
      const files = await Promise.all(['p', 'h'].map((text) => uploadFile(store.service(), `${text}.txt`, text)));
      const [P, Hidden] = files.map(fileObject);
      const objectId = await store.create(own, { P, Hidden });
      assert.equal((await use('Get-File-Content', { table: own, objectId, field: 'P' })).text, 'p');
      await refused('Get-File-Content', { table: own, objectId, field: 'Hidden' }, 119, /not allowed to access Hidden/);
      const guarded = await store.create(own, { P, ACL: { nobody: { read: true } } });
      await refused('Get-File-Content', { table: own, objectId: guarded, field: 'P' }, 101);
      const closed = await holding('P', 'c.txt', 'c');
      await refused('Get-File-Content', closed, 119, /^Permission denied for action get/);
    });
  });
