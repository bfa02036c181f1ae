/** A session user can attach a private file only if the user may read it; keys always can. Reference: files.md#attach-a-file. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  assertGone,
  assertServed,
  assertUnknownFile,
  credentials,
  fileObject,
  publicUrl,
  recordUrl,
  type Uploaded,
} from '../support/files.ts';
import type { Json } from '../support/records.ts';
import { newRole, signUp, type User } from '../support/users.ts';
import { onEachEngine } from './stores.ts';

onEachEngine((files) => {
  const { service, call } = files;
  let writer: User;
  let open: string;
  /** Creates a table that the writer may create and update records in. @param readable whether the writer may also read them */
  const tableOf = async (readable: boolean, fields: Record<string, string> = { F: 'PrivateFile', P: 'File' }) => {
    const table = await files.table(fields);
    const all = { [role]: true };
    const rules = { create: all, update: all, addField: all, get: readable ? all : {}, find: readable ? all : {} };
    await call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: rules } });
    return table;
  };
  let role: string;
  before(async () => {
    writer = await signUp(files);
    role = `role:${(await newRole(files, [writer])).name}`;
    open = await tableOf(true);
  });
  const session = () => ({ session: writer.token });
  /** Creates a record that holds a private file; returns the file as keys read it. */
  const heldIn = async (table: string) => {
    const file = await files.upload('a.txt', 'private');
    const id = await files.create(table, { F: fileObject(file) });
    return { file, id, F: (await files.read(table, id)).F as Json };
  };
  const assertNotPublished = async ({ name }: Uploaded) => assertGone(publicUrl(service(), name));

  test("another's private file is not published by who may write but not read", async () => {
    const hidden = await tableOf(false);
    const { file, id, F } = await heldIn(hidden);
    const mine = await files.create(open, {}, session());
    const urls = [
      F.url,
      file.url,
      undefined,
      publicUrl(service(), file.name),
      recordUrl(service(), file.name, { table: open, id: mine, field: 'F' }),
    ];
    for (const url of urls)
      for (const field of ['F', 'P', 'Fresh']) {
        const value = { __type: 'File', name: file.name, url };
        assertUnknownFile(await files.post(open, { [field]: value }, session()), `create ${field} ${url}`);
        assertUnknownFile(await files.put(open, mine, { [field]: value }, session()), `update ${field} ${url}`);
      }
    // Refused even in the same record, in another field.
    assertUnknownFile(await files.put(hidden, id, { P: F }, session()));
    await assertNotPublished(file);
    assert.equal((await call('GET', `/platform/schemas/${open}`)).body.fields.Fresh, undefined);
  });

  test('nor in a batch, nor from a record whose ACL hides it, nor from a protected field', async () => {
    const byAcl = await files.upload('a.txt', 'private');
    const aclId = await files.create(open, { F: fileObject(byAcl), ACL: { nobody: { read: true } } });
    const table = await tableOf(true);
    await call('PUT', `/platform/schemas/${table}`, {
      body: {
        classLevelPermissions: {
          ...(await call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions,
          protectedFields: { [role]: ['F'] },
        },
      },
    });
    const byField = await heldIn(table);
    const values = [
      { __type: 'File', name: byAcl.name, url: recordUrl(service(), byAcl.name, { table: open, id: aclId, field: 'F' }) },
      byField.F,
    ];
    for (const value of values) {
      assertUnknownFile(await files.post(open, { P: value }, session()));
      const requests = [{ method: 'POST', path: `/platform/classes/${open}`, body: { P: value } }];
      const { body } = await call('POST', '/platform/batch', { body: { requests }, ...session() });
      assert.equal(body[0].error.code, 1);
      await assertNotPublished(value);
    }
  });

  test('the url of the File object names a record and field that hold it for the user: allowed', async () => {
    const { file, F } = await heldIn(open);
    const id = await files.create(open, { F, P: F }, session());
    const record = await files.read(open, id);
    assert.equal(record.F.url, recordUrl(service(), file.name, { table: open, id, field: 'F' }));
    await assertServed(record.P.url, 'private');
  });

  test('the very field that is written holds it already: nothing changes, though the user cannot read it', async () => {
    const hidden = await tableOf(false);
    const { file, id, F } = await heldIn(hidden);
    for (const value of [F, { __type: 'File', name: file.name }]) await files.update(hidden, id, { F: value }, session());
    assert.equal((await files.read(hidden, id)).F.name, file.name);
  });

  test('a url that names a record that the user can read, but that does not hold this file: refused', async () => {
    const { file } = await heldIn(await tableOf(false));
    const other = await heldIn(open);
    const url = recordUrl(service(), file.name, { table: open, id: other.id, field: 'F' });
    assertUnknownFile(await files.post(open, { P: { __type: 'File', name: file.name, url } }, session()));
    assertUnknownFile(await files.post(open, { P: { __type: 'File', name: file.name, url: other.F.url } }, session()));
    await assertNotPublished(file);
  });

  test('a file that was taken out of its record, or whose record is deleted, stays private', async () => {
    const [one, two] = [await heldIn(open), await heldIn(open)];
    await files.update(open, one.id, { F: { __op: 'Delete' } });
    await files.remove(open, two.id);
    for (const { F, file } of [one, two]) {
      assertUnknownFile(await files.post(open, { P: F }, session()));
      await assertNotPublished(file);
      // Keys can attach any file.
      await files.create(open, { P: F }, { as: 'apiKey' });
      await assertServed(publicUrl(service(), file.name), 'private');
    }
  });

  test('a file that no PrivateFile field has held can be attached by any caller that knows its name', async () => {
    for (const isPublic of [false, true]) {
      const file = await files.upload('a.txt', 'upload');
      if (isPublic) await files.attached('File', file);
      const id = await files.create(open, { F: fileObject(file) }, session());
      await assertServed(
        recordUrl(service(), file.name, { table: open, id, field: 'F' }),
        'upload',
        credentials(service(), session()),
      );
    }
  });
});
