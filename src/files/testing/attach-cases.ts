import assert from 'node:assert/strict';
import { it } from 'node:test';
import { master, type Principal } from '../../access/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { createRecord, getRow, type RecordContext, updateRecord, updateSchema } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { Store } from '../../storage/port.ts';
import { fileKeeper } from '../attach.ts';
import { holds } from '../file-access.ts';
import { completeFile, findFile, removeFile } from '../metadata/file-metadata.ts';
import type { FileRow } from '../metadata/model.ts';
import { added, newFile } from './catalog-cases.ts';

const user: Principal = { kind: 'user', userId: 'u1', roles: [] };
const stranger: Principal = { kind: 'user', userId: 'u2', roles: [] };
const everybody = { '*': true };
const table = 'Papers';
const acl = { u1: { read: true, write: true } };
const unknown = { key: 'unknownFile' };

const fileObject = (name: string, url: JsonValue = null) => ({ __type: 'File', name, url });
const urlOf = (name: string, objectId: string, field: string) =>
  `https://crm.example.com/platform/files/app/${name}/${table}/${encodeURIComponent(objectId)}/${field}`;

/** Tests of files in records. */
export function testAttaching(storeOf: () => Store): void {
  const asked: string[] = [];
  const keeper = fileKeeper(async ({ appId, store }, { id }) => {
    asked.push(`${appId} ${id}`);
    if (asked.length > 1) return null;
    await completeFile(store, id, { size: 5, contentType: 'text/plain' });
    return findFile(store, id);
  });
  const as = (principal: Principal): RecordContext => {
    const context = masterContext(storeOf());
    return { ...context, principal, hooks: { ...context.hooks, files: keeper } };
  };
  const create = async (body: JsonObject, principal = master, className = table) =>
    (await createRecord(as(principal), className, body)).objectId;
  const update = (objectId: string, body: JsonObject, principal = master) => updateRecord(as(principal), table, objectId, body);
  const file = () => added(storeOf(), 1);
  const flags = async ({ id }: FileRow) => {
    const { isPublic, isPrivate } = (await findFile(storeOf(), id)) ?? assert.fail();
    return [isPublic, isPrivate];
  };

  it('a table with fields for files is made', async () => {
    const fields = Object.fromEntries(
      Object.entries({ F: 'File', G: 'File', P: 'PrivateFile', Q: 'PrivateFile', O: 'Object', A: 'Array', S: 'String' }).map(
        ([name, type]) => [name, { type }],
      ),
    );
    await create({}, master, table);
    const permissions = { get: everybody, find: everybody, create: everybody, update: everybody };
    await updateSchema(as(master), table, { fields, classLevelPermissions: permissions });
  });

  it('a file learns which kinds of fields hold it, in the commit of the record', async () => {
    const [one, two, three] = [await file(), await file(), await file()];
    await create({ F: fileObject(one.name), P: fileObject(two.name) });
    const id = await create({ F: fileObject(three.name), G: fileObject(three.name), P: fileObject(three.name) });
    assert.deepEqual([await flags(one), await flags(two), await flags(three)], [[true, false], [false, true], [true, true]]); // biome-ignore format: one comparison
    await update(id, { F: { __op: 'Delete' }, G: null, P: fileObject(one.name) });
    assert.deepEqual(
      [await flags(one), await flags(three)],
      [
        [true, true],
        [true, true],
      ],
    );
    const set = await file();
    await create({ P: { __op: 'SetOnInsert', amount: fileObject(set.name) } });
    assert.deepEqual(await flags(set), [false, true]);
    const fresh = await file();
    await create({ New: fileObject(fresh.name) });
    assert.deepEqual(await flags(fresh), [true, false]);
  });

  it('a file that was never uploaded is refused, and nothing is written', async () => {
    const there = await file();
    const id = await create({ S: 'before' });
    const { name } = newFile(1);
    for (const wrong of [name, 'a.txt', ' ', there.id, `${there.name}x`, there.name.toUpperCase(), `${there.id}_b.txt`])
      for (const field of ['F', 'P', 'Fresh'])
        for (const body of [
          { S: 'after', F: fileObject(there.name), [field]: fileObject(wrong) },
          { S: 'after', F: fileObject(there.name), [field]: { __op: 'SetOnInsert', amount: fileObject(wrong) } },
        ]) {
          await assert.rejects(create(body), unknown);
          await assert.rejects(create({ F: fileObject(wrong) }, master, 'NoSuchTable'), unknown);
          // An update never inserts.
          if (!Object.hasOwn(body[field] as object, '__op')) await assert.rejects(update(id, body), unknown);
        }
    assert.deepEqual(await flags(there), [false, false]);
    const { tables } = storeOf().schema();
    assert.deepEqual([tables.has('NoSuchTable'), tables.get(table)?.fields.has('Fresh')], [false, false]);
  });

  it('a record takes back the file that its field holds, deleted or not; no other field and no other record does', async () => {
    const deleted = await file();
    const id = await create({ F: fileObject(deleted.name), P: fileObject(deleted.name) });
    await removeFile(storeOf(), deleted);
    await update(id, { S: 'after', F: fileObject(deleted.name), P: fileObject(deleted.name) });
    const record = await getRow(as(master), table, id);
    assert.deepEqual([record.S, (record.F as JsonObject).name], ['after', deleted.name]);
    await assert.rejects(update(id, { G: fileObject(deleted.name) }), unknown);
    await assert.rejects(create({ F: fileObject(deleted.name) }), unknown);
    await update(id, { F: null });
    await assert.rejects(update(id, { F: fileObject(deleted.name) }), unknown);
  });

  it('inside Objects and Arrays a File object is plain JSON, and in other fields the wrong type', async () => {
    const gone = fileObject('gone.txt');
    const id = await create({ O: { file: gone }, A: [gone] });
    await update(id, { 'O.other': gone, A: { __op: 'Add', objects: [gone] } });
    for (const field of ['S', 'A']) await assert.rejects(create({ [field]: gone }), { key: 'schemaMismatch' });
  });

  it('a file that is deleted is not attached, and the record not written', async () => {
    const deleted = await file();
    const id = await create({ S: 'before' });
    await removeFile(storeOf(), deleted);
    await assert.rejects(updateRecord(as(master), table, id, { S: 'after', P: fileObject(deleted.name) }), unknown);
    await assert.rejects(createRecord(as(master), table, { objectId: 'never', F: fileObject(deleted.name) }), unknown);
    assert.equal(await holds(as(master), { className: table, objectId: 'never', field: 'F' }, deleted.name), 'no');
  });

  it('an awaited upload is looked for once, and attached when it has come', async () => {
    const [come, missing] = [await added(storeOf(), null), await added(storeOf(), null)];
    asked.length = 0;
    await create({ P: fileObject(come.name) });
    assert.deepEqual([(await findFile(storeOf(), come.id))?.size, await flags(come)], [5, [false, true]]);
    await assert.rejects(create({ P: fileObject(missing.name) }), unknown);
    await create({ P: fileObject(come.name) });
    assert.deepEqual(asked, [`app ${come.id}`, `app ${missing.id}`]);
  });

  it('who may not write learns nothing of files', async () => {
    await updateSchema(as(master), table, { classLevelPermissions: { get: everybody } });
    const body = { F: fileObject('gone.txt') };
    await assert.rejects(create(body, user), { key: 'permissionDenied' });
    await assert.rejects(update('none', body, user), { key: 'permissionDenied' });
    await assert.rejects(create(body, user, 'NoSuchTable'), { key: 'permissionDenied' });
    await assert.rejects(updateRecord(as(user), 'NoSuchTable', 'x', body), { key: 'objectNotFound' });
    await assert.rejects(create(body, { kind: 'anonymous' }), { key: 'captcha' });
    await updateSchema(as(master), table, {
      classLevelPermissions: { get: everybody, find: everybody, create: everybody, update: everybody },
    });
  });

  it('a private file is for who may read it', async () => {
    const secret = await file();
    const { name } = secret;
    const id = await create({ objectId: 'a/b c', ACL: acl, P: fileObject(name) });
    const open = await create({});
    const steal = (url: JsonValue) => update(open, { F: fileObject(name, url) }, stranger);
    for (const url of [
      null,
      'x',
      name,
      urlOf(name, id, 'P'),
      urlOf(name, open, 'F'),
      urlOf(name, open, 'P'),
      { a: 1 },
      '%/%/%/%',
    ])
      await assert.rejects(steal(url), { key: typeof url === 'object' && url !== null ? /unknownFile|notAType/ : 'unknownFile' });
    await assert.rejects(create({ Q: fileObject(name, urlOf(name, id, 'P')) }, stranger), unknown);
    // The user's own record, as the user read it.
    await update(id, { P: fileObject(name, urlOf(name, id, 'P')) }, user);
    await update(id, { P: fileObject(name) }, user);
    // Another field, with the address of the first one.
    await assert.rejects(update(id, { Q: fileObject(name) }, user), unknown);
    await assert.rejects(update(id, { Q: fileObject(name, urlOf(name, id, 'F')) }, user), unknown);
    await assert.rejects(create({ P: fileObject(name, urlOf(`${name}x`, id, 'P')) }, user), unknown);
    await create({ Q: fileObject(name, urlOf(name, id, 'P')) }, user);
    assert.deepEqual(await flags(secret), [false, true]);
    // Once it is public, everybody may read it.
    await update(open, { G: fileObject(name) });
    await steal(null);
  });

  it('a place holds a file for who may read the record and the field', async () => {
    const { name } = await file();
    const objectId = await create({ ACL: acl, P: fileObject(name), F: fileObject(name) });
    const place = { className: table, objectId, field: 'P' };
    const ask = (principal: Principal, more: Partial<typeof place> = {}, wanted = name) =>
      holds(as(principal), { ...place, ...more }, wanted);
    const apiKey: Principal = { kind: 'apiKey', name: 'k' };
    for (const principal of [master, apiKey, user]) {
      assert.equal(await ask(principal), 'yes');
      for (const field of ['Q', 'F', 'S', 'Nothing', 'objectId']) assert.equal(await ask(principal, { field }), 'no', field);
      assert.equal(await ask(principal, {}, `${name}x`), 'no');
    }
    const wrong = [
      { className: 'Nowhere' },
      { className: '__proto__' },
      { className: '_StoredFile' },
      { objectId: 'nothing' },
      { objectId: '' },
      ...['', 'P.name', 'P,Q', '*', '__proto__', '_x'].map((field) => ({ field })),
    ];
    for (const more of wrong) {
      assert.equal(await ask(user, more), 'denied', JSON.stringify(more));
      assert.equal(await ask(master, more), 'no', JSON.stringify(more));
    }
    for (const principal of [stranger, { kind: 'anonymous' }, { kind: 'invalid' }] as const)
      assert.equal(await ask(principal), 'denied');
    const hidden = { get: everybody, protectedFields: { '*': ['P'] } };
    await updateSchema(as(master), table, { classLevelPermissions: hidden });
    assert.deepEqual([await ask(user), await ask(master)], ['denied', 'yes']);
  });
}
