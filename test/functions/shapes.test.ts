/** Tables and fields may be added, removed or retyped in a system. Forms write what fits, and create no field. Reference: functions.md#forms. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { assertRefused, type Json, mismatch, pointer } from '../support/records.ts';
import { newPhone, onEachEngine, onOwnEngines } from './forms.ts';

const gone = { __op: 'Delete' };

onEachEngine((forms) => {
  const { link, lead } = forms;
  before(() => forms.openForms());

  test('web2table: names that look like other groups', async () => {
    const fields = { table_x: 'String', account_x: 'String', phone: 'String', table: 'String', email: 'String' };
    const table = await forms.table(fields);
    await forms.addFields(
      'Accounts',
      Object.fromEntries(['table_x', 'account_x', 'phone', 'table'].map((name) => [name, { type: 'String' }])),
    );
    const sent = Object.keys(fields).flatMap((name) => [
      [`table_${name}`, `row ${name}`],
      [`account_${name}`, `account ${name}`],
    ]);
    const { accountId, Id } = await link({ table, phone: newPhone(), ...Object.fromEntries(sent) });
    const [account, row] = [await forms.read('Accounts', accountId), await forms.read(table, Id)];
    for (const name of Object.keys(fields)) {
      assert.equal(row[name], `row ${name}`);
      assert.equal(account[name], name === 'email' ? undefined : `account ${name}`);
    }
  });

  test('web2table: the target is Accounts itself, and the row has the phone too: the contact stays the contact', async () => {
    const phone = newPhone();
    const first = await link({ table: 'Accounts', phone, table_PhoneNumber: phone, table_Name: 'row' });
    assert.notEqual(first.accountId, first.Id);
    for (let n = 0; n < 3; n++)
      assert.equal((await link({ table: 'Accounts', phone, table_PhoneNumber: phone })).accountId, first.accountId);
  });

  test('functions run with full rights: permissions, rights and hidden fields of the account do not matter', async () => {
    const [phone, duplicate] = [newPhone(), await forms.status('duplicate')];
    const id = await forms.create('Accounts', { PhoneNumber: phone, ACL: { 'role:Nobody': { read: true } } });
    const none = { find: {}, get: {}, create: {}, update: {}, delete: {}, addField: {} };
    const classLevelPermissions = { ...none, protectedFields: { '*': ['PhoneNumber', 'Email', 'IsAccount'] } };
    const { status, text } = await forms.call('PUT', '/platform/schemas/Accounts', { body: { classLevelPermissions } });
    assert.equal(status, 200, text);
    assert.equal((await link({ table: 'Tasks', phone })).accountId, id);
    assert.equal((await lead({ PhoneNumber: phone })).LeadStatusId.objectId, duplicate);
  });

  test('an `AccountId` that is a Relation or an Array is no link', async () => {
    for (const AccountId of [{ type: 'Relation', targetClass: 'Accounts' }, 'Array', 'Object', 'Number']) {
      const table = await forms.table({ AccountId });
      const { Id } = await link({ table, phone: newPhone() });
      const { AccountId: stored } = await forms.read(table, Id);
      assert.ok(stored === undefined || stored.__type === 'Relation');
    }
  });

  test('web2table: a link where the field was retyped meanwhile', async () => {
    const table = await forms.table({ AccountId: 'String' });
    const { Id } = await link({ table, phone: newPhone(), table_AccountId: 'text' });
    assert.equal((await forms.read(table, Id)).AccountId, 'text');
    await forms.addFields(table, { AccountId: gone });
    await forms.addFields(table, { AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    const second = await link({ table, phone: newPhone(), table_AccountId: 'text' });
    assert.deepEqual((await forms.read(table, second.Id)).AccountId, pointer('Accounts', second.accountId));
  });

  test('getlead: a text that an index does not take is 400, where the engine does not', async () => {
    const Email = randomBytes(6_000).toString('base64');
    const { status, body } = await forms.send('getlead', { Email });
    if (status !== 200)
      assert.deepEqual([status, body], [400, { code: 116, error: 'The record is too large for its table or an index.' }]);
  });

  test('getlead: a long text', async () => {
    const Comment = 'ארוך '.repeat(20_000);
    assert.equal((await lead({ PhoneNumber: newPhone(), Comment })).Comment, Comment);
    assert.equal((await lead({ PhoneNumber: newPhone(), Comment }, 'form')).Comment, Comment);
  });
});

/** Successive changes of `Accounts`, and the phone that a form stores after each. */
const changes: [what: string, fields: Json, phone: (sent: string) => unknown][] = [
  [
    'with these retyped',
    { IsAccount: { type: 'String' }, fromWeb2lead: { type: 'Object' }, LeadStatusId: { type: 'Pointer', targetClass: 'Tags' } },
    (sent) => sent,
  ],
  ['without `Email` and `CompanyId`', { Email: gone, CompanyId: gone }, (sent) => sent],
  ['with `Email` a Number', { Email: { type: 'Number' } }, (sent) => sent],
  ['without `PhoneNumber`', { PhoneNumber: gone }, () => undefined],
  ['with `PhoneNumber` a Number', { PhoneNumber: { type: 'Number' } }, Number],
];

onOwnEngines((forms) => {
  describe('Conventions: a customised Accounts', () => {
    before(() => forms.openForms());

    async function formsFit(fields: Json, stored: (sent: string) => unknown): Promise<void> {
      await forms.addFields('Accounts', fields);
      const before = await forms.fields('Accounts');
      for (let n = 0; n < 2; n++) {
        const phone = newPhone();
        const record = await forms.lead({ PhoneNumber: phone, Name: 'x', Email: '5', CompanyId: '6', LeadStatusId: '' });
        assert.deepEqual([record.Name, record.PhoneNumber], ['x', stored(phone)]);
        const { accountId, Id } = await forms.link({ table: 'Sales', phone, email: '5', idnum: '6', account_Name: 'y' });
        assert.deepEqual((await forms.read('Sales', Id)).AccountId, pointer('Accounts', accountId));
        // A phone that is no text may match or not; in both cases the contact is an account.
        assert.ok(['x', 'y'].includes((await forms.read('Accounts', accountId)).Name));
      }
      assert.deepEqual(await forms.fields('Accounts'), before, 'no field is made');
    }

    const dropped = ['IsAccount', 'fromWeb2lead', 'LeadStatusId'];
    test('without `IsAccount`, `fromWeb2lead`, `LeadStatusId`', async () => {
      await formsFit(Object.fromEntries(dropped.map((name) => [name, gone])), (sent) => sent);
      const before = await forms.fields('Accounts');
      const PhoneNumber = newPhone();
      for (const more of [{}, { LeadStatusId: 'abcdefghij', IsAccount: 'x', fromWeb2lead: 1 }]) {
        const record = await forms.lead({ PhoneNumber, Name: 'x', ...more });
        assert.deepEqual([record.Name, record.PhoneNumber], ['x', PhoneNumber]);
        for (const name of dropped) assert.equal(name in record, false);
      }
      assert.deepEqual(await forms.fields('Accounts'), before);
    });

    test('with a status that is a text, and a flag that is a number: these are written where they fit', async () => {
      await formsFit({ LeadStatusId: { type: 'String' }, fromWeb2lead: { type: 'Number' } }, (sent) => sent);
      await forms.addFields('Accounts', { LeadStatusId: gone, fromWeb2lead: gone });
    });

    for (const [what, fields, stored] of changes) test(what, () => formsFit(fields, stored));

    test('with `PhoneNumber` a Boolean: a text is false, a number is 111', async () => {
      await forms.addFields('Accounts', { PhoneNumber: gone });
      await forms.addFields('Accounts', { PhoneNumber: { type: 'Boolean' } });
      assert.equal((await forms.lead({ PhoneNumber: newPhone() })).PhoneNumber, false);
      const answer = await forms.send('getlead', { PhoneNumber: 5 });
      assertRefused(answer, mismatch('Accounts', 'PhoneNumber', 'Boolean', 'Number'));
      assert.equal((await forms.send('web2table', { table: 'Sales', phone: newPhone() })).status, 200);
    });

    test('without LeadStatuses', async () => {
      for (const { objectId } of await forms.all('Accounts')) await forms.remove('Accounts', objectId);
      for (const { objectId } of await forms.all('LeadStatuses')) await forms.remove('LeadStatuses', objectId);
      await forms.call('DELETE', '/platform/schemas/LeadStatuses');
      await forms.lead({ PhoneNumber: newPhone(), Name: 'x' });
      assert.equal(await forms.fields('LeadStatuses'), undefined);
    });

    test('without Accounts: 400, and the table is not made', async () => {
      for (const table of ['Sales', 'Accounts'])
        for (const { objectId } of await forms.all(table)) await forms.remove(table, objectId);
      const { status, text } = await forms.call('DELETE', '/platform/schemas/Accounts');
      assert.equal(status, 200, text);
      for (const [fn, fields] of [
        ['getlead', { PhoneNumber: newPhone() }],
        ['web2table', { table: 'Sales', phone: newPhone() }],
      ] as const)
        assertRefused(await forms.send(fn, fields), { code: 103, error: 'Class Accounts does not exist.' });
      assert.equal(await forms.fields('Accounts'), undefined);
      assert.equal(await forms.count('Sales'), 0);
    });
  });
});
