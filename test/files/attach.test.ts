/** A record that receives a File object holds the file. Reference: files.md#attach-a-file, types.md#file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertServed, credentials, fileObject, shownFile, shownPrivate, type Uploaded } from '../support/files.ts';
import { assertRefused, type Json, mismatch, path, pointer, unique } from '../support/records.ts';
import { changeUser, login, me, password, signUp } from '../support/users.ts';
import { onEachEngine } from './stores.ts';

const types = ['File', 'PrivateFile'] as const;

onEachEngine((files) => {
  const { service, call } = files;
  const shown = (type: (typeof types)[number], { name }: Uploaded, table: string, id: string) =>
    type === 'File' ? shownFile(service(), name) : shownPrivate(service(), name, { table, id, field: 'F' });

  for (const type of types) {
    test(`a create with a File object (${type})`, async () => {
      const file = await files.upload('a.txt', 'text');
      const table = await files.table({ F: type, Name: 'String' });
      const id = await files.create(table, { F: fileObject(file), Name: 'x' });
      const record = await files.read(table, id);
      assert.deepEqual([record.F, record.Name], [shown(type, file, table, id), 'x']);
      const [listed] = await files.all(table);
      assert.deepEqual(listed, record);
    });

    test(`a create with an id of the caller's own (${type})`, async () => {
      const table = await files.table({ F: type });
      for (const objectId of ['a b', 'שלום', "o'k/%2F?#", unique('x'.repeat(100))]) {
        const file = await files.upload('a.txt', 'text');
        const id = await files.create(table, { objectId, F: fileObject(file) });
        const { F } = await files.read(table, id);
        assert.deepEqual(F, shown(type, file, table, objectId));
        await assertServed(F.url, 'text', credentials(service(), { as: 'apiKey' }));
      }
    });

    test(`a PUT, by master key, API key and a user who may (${type})`, async () => {
      const { token: session, id: user } = await signUp(files);
      const table = await files.table({ F: type });
      for (const by of [{ as: 'master' }, { as: 'apiKey' }, { session }] as const) {
        const rules = { update: { [user]: true } };
        await call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: rules } });
        const file = await files.upload('a.txt', 'text');
        const id = await files.create(table, {});
        await files.update(table, id, { F: fileObject(file) }, by);
        assert.deepEqual((await files.read(table, id)).F, shown(type, file, table, id));
      }
    });

    test(`in a batch (${type})`, async () => {
      const [one, two] = [await files.upload('a.txt', 'one'), await files.upload('b.txt', 'two')];
      const table = await files.table({ F: type });
      const id = await files.create(table, {});
      const requests = [
        { method: 'POST', path: path(table), body: { objectId: 'made', F: fileObject(one) } },
        { method: 'PUT', path: path(table, id), body: { F: fileObject(two) } },
      ];
      const { body } = await call('POST', '/platform/batch', { body: { requests } });
      assert.deepEqual(
        body.map((item: Json) => Object.keys(item)),
        [['success'], ['success']],
      );
      assert.deepEqual((await files.read(table, 'made')).F, shown(type, one, table, 'made'));
      assert.deepEqual((await files.read(table, id)).F, shown(type, two, table, id));
    });

    for (const [what, more] of [
      ['no url', { url: undefined }],
      ['a url elsewhere', { url: 'https://elsewhere.example/x' }],
      ['`public: true`', { public: true }],
      ['`private: true`', { private: true }],
      ['both flags', { public: true, private: false }],
      ['flags of other types', { public: 'no', private: 1 }],
      ['further keys', { size: 5, objectId: 'x', className: 'y' }],
    ] as const)
      test(`flags and url that are sent are passed over: ${what} (${type})`, async () => {
        const file = await files.upload('a.txt', 'text');
        const table = await files.table({ F: type });
        const id = await files.create(table, { F: { ...fileObject(file), ...more } });
        assert.deepEqual((await files.read(table, id)).F, shown(type, file, table, id));
      });

    test(`the value that was read is sent back as it is, here and in another record (${type})`, async () => {
      const { table, id } = await files.attached(type, await files.upload('a.txt', 'text'));
      const { F } = await files.read(table, id);
      await files.update(table, id, { F });
      assert.deepEqual((await files.read(table, id)).F, F);
      const other = await files.create(table, { F });
      assert.deepEqual((await files.read(table, other)).F, shown(type, F, table, other));
    });

    test(`Errors/111: what is no File object (${type})`, async () => {
      const { name, url } = await files.upload('a.txt', 'text');
      const table = await files.table({ F: type });
      const id = await files.create(table, {});
      for (const [value, got] of [
        [name, 'String'],
        [url, 'String'],
        [5, 'Number'],
        [true, 'Boolean'],
        [[fileObject({ name, url })], 'Array'],
        [{ name, url }, 'Object'],
        [pointer('_StoredFile', name.slice(0, 32)), 'Pointer<_StoredFile>'],
      ] as const) {
        assertRefused(await files.post(table, { F: value }), mismatch(table, 'F', type, got));
        assertRefused(await files.put(table, id, { F: value }), mismatch(table, 'F', type, got));
      }
      for (const op of ['Add', 'AddUnique', 'Remove', 'Increment']) {
        const sent = { __op: op, objects: [fileObject({ name, url })], amount: 1 };
        assertRefused(await files.put(table, id, { F: sent }), { code: 111 });
      }
      assert.equal('F' in (await files.read(table, id)), false);
    });
  }

  test('Errors/111: a File object into a field of another type', async () => {
    const file = await files.upload('a.txt', 'text');
    for (const type of ['String', 'Number', 'Boolean', 'Date', 'HTML/XML']) {
      const table = await files.table({ F: type });
      assertRefused(await files.post(table, { F: fileObject(file) }), mismatch(table, 'F', type, 'File'));
    }
  });

  test('an unknown field is typed by its first value: a File object makes it a File', async () => {
    const file = await files.upload('a.txt', 'text');
    const table = await files.table();
    const id = await files.create(table, { Paper: { ...fileObject(file), private: true } });
    assert.equal((await files.fields(table)).Paper.type, 'File');
    assert.deepEqual((await files.read(table, id)).Paper, shownFile(service(), file.name));
    const fresh = unique('T');
    const made = await files.create(fresh, { Paper: fileObject(file) });
    assert.deepEqual((await files.read(fresh, made)).Paper, shownFile(service(), file.name));
  });

  test('`_User.profile_image`: in the user, at login, in /users/me', async () => {
    const user = await signUp(files);
    const file = await files.upload('me.txt', 'a face');
    await changeUser(files, user, { profile_image: fileObject(file) });
    const value = shownFile(service(), file.name);
    assert.deepEqual((await files.read('_User', user.id)).profile_image, value);
    assert.deepEqual((await call('GET', `/platform/users/${user.id}`)).body.profile_image, value);
    assert.deepEqual((await login(files, { username: user.username, password })).body.profile_image, value);
    assert.deepEqual((await me(files, user.token)).body.profile_image, value);
    await assertServed(value.url, 'a face');
  });

  test('`_User.profile_image` at sign-up', async () => {
    const file = await files.upload('me.txt', 'a face');
    const { id } = await signUp(files, { profile_image: fileObject(file) });
    assert.deepEqual((await files.read('_User', id)).profile_image, shownFile(service(), file.name));
  });

  test('Batch: items with files and without take effect in the order of the request', async () => {
    const file = fileObject(await files.upload('a.txt', 'text'));
    const orders = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const table = await files.table({ F: 'File', N: 'Number' });
      const id = await files.create(table, { N: 9 });
      const bodies = Array.from({ length: 8 }, (_, N) => (N % 2 === 0 ? { N, F: file } : { N }));
      const requests = [
        ...bodies.map((body) => ({ method: 'POST', path: path(table), body })),
        ...bodies.map((body) => ({ method: 'PUT', path: path(table, id), body })),
      ];
      const { body } = await call('POST', '/platform/batch', { body: { requests } });
      assert.equal(
        body.every((item: Json) => 'success' in item),
        true,
      );
      orders.add((await files.all(table)).map(({ N }) => N).join(' '));
    }
    assert.deepEqual([...orders], ['7 0 1 2 3 4 5 6 7']);
  });

  test('a File object inside an Array or an Object is plain JSON and attaches nothing', async () => {
    const file = await files.upload('a.txt', 'text');
    const table = await files.table({ A: 'Array', O: 'Object' });
    const value = { ...fileObject(file), url: 'https://elsewhere.example/x' };
    const never = { __type: 'File', name: 'never.txt' };
    const id = await files.create(table, { A: [value, never], O: { value, never } });
    const { A, O } = await files.read(table, id);
    assert.deepEqual([A, O], [[value, never], { value, never }]);
    await files.update(table, id, { A: { __op: 'AddUnique', objects: [{ ...never, name: 'other.txt' }] } });
    const { status } = await fetch(`${service().url}/static/${service().appId}/${file.name}`);
    assert.equal(status, 404);
  });
});
