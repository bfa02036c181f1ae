/** Writes of functions leave `_Timeline` rows whose `Referer` is `server-side-code:<functionName>`. Reference: audit.md#timeline. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Json, master, pointer } from '../support/records.ts';
import { newPhone, onEachEngine } from './forms.ts';

onEachEngine((forms) => {
  const { send, lead, link } = forms;
  let quiet = '';
  before(async () => {
    await forms.openForms();
    quiet = await forms.table({ Name: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
  });

  /** Returns the timeline rows of a record, in order. */
  const rowsOf = (table: string, id: string): Promise<Json[]> =>
    forms.find('_Timeline', { objectClass: table, objectIdValue: id });

  /** Asserts that a create left one row. */
  async function assertOne(table: string, id: string, fn: string): Promise<Json> {
    const rows = await rowsOf(table, id);
    assert.equal(rows.length, 1, JSON.stringify(rows));
    const [{ event, user, createdBy, updatedBy, Referer, Last }] = rows as [Json];
    assert.deepEqual([event, Referer, Last], ['create', `server-side-code:${fn}`, true]);
    assert.deepEqual([user, createdBy, updatedBy], [master, master, master]);
    return rows[0];
  }

  test('_Timeline: one row of a lead, with the fields that were sent', async () => {
    const PhoneNumber = newPhone();
    const { objectId } = await lead({ PhoneNumber, Name: 'דנה', Nope: 'x', password: 'x' });
    const { data } = await assertOne('Accounts', objectId, 'getlead');
    assert.deepEqual([data.PhoneNumber, data.Name, data.IsAccount ?? false], [PhoneNumber, 'דנה', false]);
    const fields = await forms.fields('Accounts');
    for (const name of Object.keys(data)) assert.ok(name in fields, `data holds ${name}`);
  });

  test('_Timeline: for one record written, one row; a contact that is there has none', async () => {
    const phone = newPhone();
    const before = await forms.count('_Timeline');
    const first = await link({ table: 'Sales', phone, table_Name: 'x' });
    await assertOne('Accounts', first.accountId, 'web2table');
    const row = await assertOne('Sales', first.Id, 'web2table');
    assert.equal(row.data.Name, 'x');
    // Index columns have the values of the record.
    assert.deepEqual(row.AccountId, pointer('Accounts', first.accountId));
    assert.equal(await forms.count('_Timeline'), before + 2);
    const second = await link({ table: 'Sales', phone });
    await assertOne('Sales', second.Id, 'web2table');
    assert.equal(second.accountId, first.accountId);
    assert.equal(await forms.count('_Timeline'), before + 3);
  });

  test('_Timeline: the name is that of the function that was called', async () => {
    const aCase = await link({ phone: newPhone() }, 'form', 'web2case');
    await assertOne('Accounts', aCase.accountId, 'web2case');
    await assertOne('Cases', aCase.Id, 'web2case');
    const sale = await link({ phone: newPhone() }, 'query', 'web2sale');
    await assertOne('Accounts', sale.accountId, 'web2sale');
    await assertOne('Sales', sale.Id, 'web2sale');
  });

  test('_Timeline: the Referer header of the page, and its credentials, change nothing', async () => {
    const headers = { Referer: 'https://site.example/form', 'X-Platform-Master-Key': forms.service().masterKey };
    const { body } = await send('getlead', { PhoneNumber: newPhone(), Referer: 'x' }, 'json', headers);
    await assertOne('Accounts', body.result.leadId, 'getlead');
  });

  test('_Timeline: tables without it have no rows', async () => {
    const { accountId, Id } = await link({ table: quiet, phone: newPhone(), table_Name: 'x' });
    await assertOne('Accounts', accountId, 'web2table');
    assert.deepEqual(await rowsOf(quiet, Id), []);
  });

  test('the silencing flags are ignored in forms', async () => {
    const flags = { dontUpdatePlatformTimeline: true, dontRunPlatformTriggers: true };
    const grouped = { account_dontUpdatePlatformTimeline: true, table_dontUpdatePlatformTimeline: true };
    const headers = { 'X-Platform-Master-Key': forms.service().masterKey };
    const { objectId } = await lead({ PhoneNumber: newPhone(), ...flags });
    await assertOne('Accounts', objectId, 'getlead');
    const { body } = await send('web2table', { table: 'Sales', phone: newPhone(), ...flags, ...grouped }, 'json', headers);
    for (const [table, id] of [
      ['Accounts', body.accountId],
      ['Sales', body.Id],
    ]) {
      const { data } = await assertOne(table, id, 'web2table');
      assert.equal(
        Object.keys(data ?? {}).some((name) => /dont/.test(name)),
        false,
      );
    }
  });

  test('_Timeline: a request that is refused leaves none', async () => {
    const before = await forms.count('_Timeline');
    const phone = newPhone();
    for (const fields of [{ table_Total: true }, { account_IsAccount: 'x' }, { table: '_User' }, { phone: '' }])
      assert.equal((await send('web2table', { table: 'Sales', phone, ...fields })).status, 400);
    assert.equal((await send('getlead', { PhoneNumber: phone, Birthday: 'x' })).status, 400);
    assert.equal(await forms.count('_Timeline'), before);
  });

  test('_Timeline: a table whose timeline is switched off, or on, follows at once', async () => {
    const timeline = { displayFields: { Name: true }, index: {} };
    const set = (table: string, value: unknown) => forms.call('PUT', `/platform/schemas/${table}`, { body: { timeline: value } });
    assert.equal((await set(quiet, timeline)).status, 200);
    const { Id, accountId } = await link({ table: quiet, phone: newPhone(), table_Name: 'x' });
    const row = await assertOne(quiet, Id, 'web2table');
    assert.deepEqual(row.AccountId, pointer('Accounts', accountId));
  });
});
