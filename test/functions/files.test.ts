/** File fields of forms: upload with the application id alone, then send the File object in a `table_` field. Reference: functions.md#web2table. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  ask,
  assertGone,
  assertServed,
  assertUnknownFile,
  credentials,
  deleteFile,
  fileObject,
  publicUrl,
  recordUrl,
  shownFile,
  shownPrivate,
  type Uploaded,
  uploadFile,
  uploadUrl,
} from '../support/files.ts';
import { assertRefused, mismatch, pointer } from '../support/records.ts';
import { type Fields, newPhone, onEachEngine } from './forms.ts';

onEachEngine((forms) => {
  const { send, link, service } = forms;
  let table = '';
  before(async () => {
    await forms.openForms();
    const fields = { F: { type: 'File' }, P: { type: 'PrivateFile' } };
    table = await forms.table({ ...fields, G: 'File', Name: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    await forms.addFields('Accounts', fields);
  });

  const upload = (bytes = 'a form’s file'): Promise<Uploaded> => uploadFile(service(), 'form.txt', bytes);
  const counts = () => Promise.all([forms.count('Accounts'), forms.count(table)]);
  const unknown = { __type: 'File', name: `${'0'.repeat(32)}_a.txt`, url: 'https://example.com/a.txt' };

  /** Asserts that a request creates no contact and no row, and does not attach the file. */
  async function leavesNothing(request: () => Promise<void>, file?: Uploaded): Promise<void> {
    const before = await counts();
    await request();
    assert.deepEqual(await counts(), before, 'no contact, no row');
    if (file) await assertGone(publicUrl(service(), file.name));
  }

  test('web2table: File fields: 200 and one row; the public address serves the bytes', async () => {
    const file = await upload();
    const before = await counts();
    const { Id } = await link({ table, phone: newPhone(), table_F: fileObject(file), table_Name: 'x' });
    assert.deepEqual(
      await counts(),
      before.map((count) => count + 1),
    );
    const { F, Name } = await forms.read(table, Id);
    assert.deepEqual([F, Name], [shownFile(service(), file.name), 'x']);
    await assertServed(F.url, 'a form’s file');
  });

  test('web2table: a PrivateFile field: the record’s address serves it to keys only', async () => {
    const file = await upload();
    const { Id } = await link({ table, phone: newPhone(), table_P: fileObject(file) });
    const place = { table, id: Id, field: 'P' };
    const { P } = await forms.read(table, Id);
    assert.deepEqual(P, shownPrivate(service(), file.name, place));
    await assertServed(P.url, 'a form’s file', credentials(service(), { as: 'master' }));
    assert.equal((await ask(recordUrl(service(), file.name, place))).status, 302);
    await assertGone(publicUrl(service(), file.name));
    await assertGone(uploadUrl(service(), file.name));
  });

  test('web2table: several files in one request', async () => {
    const [one, two, three] = [await upload('one'), await upload('two'), await upload('three')];
    const fields = { table_F: fileObject(one), table_G: fileObject(two), table_P: fileObject(three) };
    const { F, G, P } = await forms.read(table, (await link({ table, phone: newPhone(), ...fields })).Id);
    assert.deepEqual([F.name, G.name, P.name], [one.name, two.name, three.name]);
    await assertServed(F.url, 'one');
    await assertServed(G.url, 'two');
  });

  test('web2case: `Cases.Attachment`, for a contact that is there', async () => {
    const [file, phone] = [await upload(), newPhone()];
    const accountId = await forms.create('Accounts', { PhoneNumber: phone });
    const linked = await link({ phone, table_Attachment: fileObject(file), table_Name: 'x' }, 'json', 'web2case');
    assert.equal(linked.accountId, accountId);
    const { Attachment } = await forms.read('Cases', linked.Id);
    assert.deepEqual(Attachment, shownPrivate(service(), file.name, { table: 'Cases', id: linked.Id, field: 'Attachment' }));
  });

  test('flags and `url` of the File object are passed over', async () => {
    const { name } = await upload();
    const more = { url: 'https://elsewhere.example/x', public: false, private: true, size: 5 };
    const { Id } = await link({ table, phone: newPhone(), table_F: { __type: 'File', name, ...more } });
    assert.deepEqual((await forms.read(table, Id)).F, shownFile(service(), name));
  });

  for (const field of ['table_F', 'table_P'])
    test(`Errors/1: a File object of a file never uploaded: {code: 1}, at once, and nothing is left (${field})`, async () => {
      const file = await upload();
      const phone = newPhone();
      await leavesNothing(async () => {
        const since = performance.now();
        for (let n = 0; n < 3; n++)
          assertUnknownFile(
            await send('web2table', { table, phone, table_G: fileObject(file), [field]: unknown, table_Name: 'x' }),
          );
        assert.ok(performance.now() - since < 2_000);
      }, file);
      // The same with an existing contact.
      await forms.create('Accounts', { PhoneNumber: phone });
      await leavesNothing(async () => assertUnknownFile(await send('web2table', { table, phone, [field]: unknown })));
    });

  test('Errors/1: a file that was deleted', async () => {
    const file = await upload();
    await deleteFile(service(), file.name);
    await leavesNothing(async () =>
      assertUnknownFile(await send('web2table', { table, phone: newPhone(), table_F: fileObject(file) })),
    );
  });

  test('Errors/111: a URL string, and nothing is left', async () => {
    const file = await upload();
    for (const [field, type] of [
      ['F', 'File'],
      ['P', 'PrivateFile'],
    ] as const)
      for (const value of [file.url, file.name, JSON.stringify(fileObject(file))])
        for (const way of ['json', 'form', 'query'] as const)
          await leavesNothing(
            async () =>
              assertRefused(
                await send('web2table', { table, phone: newPhone(), [`table_${field}`]: value }, way),
                mismatch(table, field, type, 'String'),
              ),
            file,
          );
  });

  test('a private file that a form names has to be public too: its senders are anonymous', async () => {
    const file = await upload();
    const id = await forms.create(table, { P: fileObject(file) });
    const { P } = await forms.read(table, id);
    for (const table_field of ['table_F', 'table_P'])
      for (const sent of [P, fileObject(file)])
        for (const headers of [{}, { 'X-Platform-Master-Key': service().masterKey }])
          await leavesNothing(
            async () =>
              assertUnknownFile(await send('web2table', { table, phone: newPhone(), [table_field]: sent }, 'json', headers)),
            file,
          );
    await forms.update(table, id, { F: fileObject(file) });
    const { Id } = await link({ table, phone: newPhone(), table_F: fileObject(file) });
    assert.equal((await forms.read(table, Id)).F.name, file.name);
  });

  test('web2table: a file that another record holds in a File field may be sent again', async () => {
    const file = await upload();
    for (let n = 0; n < 2; n++) {
      const { Id } = await link({ table, phone: newPhone(), table_F: fileObject(file) });
      assert.deepEqual((await forms.read(table, Id)).F, shownFile(service(), file.name));
    }
  });

  test('getlead has no file fields; neither has the contact: they are passed over, and attach nothing', async () => {
    const file = await upload();
    const sent: Fields[] = [
      { F: fileObject(file), P: fileObject(file) },
      { F: unknown, P: unknown },
      { F: 'https://example.com', P: 5 },
    ];
    for (const fields of sent) {
      const lead = await forms.lead({ PhoneNumber: newPhone(), ...fields });
      const account = Object.fromEntries(Object.entries(fields).map(([name, value]) => [`account_${name}`, value]));
      const { accountId } = await link({ table, phone: newPhone(), ...account });
      const contact = await forms.read('Accounts', accountId);
      assert.deepEqual([lead.F, lead.P, contact.F, contact.P], [undefined, undefined, undefined, undefined]);
    }
    await assertGone(publicUrl(service(), file.name));
    await assertServed(uploadUrl(service(), file.name), 'a form’s file');
  });

  test('a request that fails by something else attaches nothing', async () => {
    const file = await upload();
    const right = { table, phone: newPhone(), table_F: fileObject(file) };
    for (const wrong of [
      { account_IsAccount: 'x' },
      { table_Name: {} },
      { account_LeadSourceId: 'short' },
      { table: '_User' },
      { phone: '' },
    ])
      await leavesNothing(async () => assert.equal((await send('web2table', { ...right, ...wrong })).status, 400), file);
    const { Id, accountId } = await link(right);
    const { F, AccountId } = await forms.read(table, Id);
    assert.deepEqual([F.name, AccountId], [file.name, pointer('Accounts', accountId)]);
  });

  test('Files: posts with files at once for one new phone make one contact', async () => {
    const phone = newPhone();
    const [accounts = 0, rows = 0] = await counts();
    const sent = await Promise.all(
      Array.from({ length: 6 }, async (_, n) =>
        send('web2table', { table, phone, table_F: n % 3 === 2 ? unknown : fileObject(await upload()) }),
      ),
    );
    assert.deepEqual(
      sent.map(({ status }) => status),
      [200, 200, 400, 200, 200, 400],
    );
    assert.deepEqual(await counts(), [accounts + 1, rows + 4]);
  });
});
