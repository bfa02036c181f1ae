/** `web2table`: the contact, the row, and their common commit. Flags and inputs: web2-inputs.test.ts. Reference: functions.md#web2table. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type Json, mismatch, pointer, unique } from '../support/records.ts';
import { assertByService, type Fields, newPhone, on, onEachEngine, type Way, ways } from './forms.ts';

const accountPointer = (id: string) => pointer('Accounts', id);
const linkField = { AccountId: { type: 'Pointer', targetClass: 'Accounts' } };

onEachEngine((forms) => {
  const { send, link } = forms;
  let table = '';
  before(async () => {
    await forms.openForms();
    table = await forms.table({ ...linkField, Name: 'String', N: 'Number', D: 'Date' });
  });

  const counts = () => Promise.all([forms.count('Accounts'), forms.count(table)]);
  const contact = async (fields: Fields, way?: Way): Promise<Json> =>
    forms.read('Accounts', (await link({ table, phone: newPhone(), ...fields }, way)).accountId);
  const row = async (fields: Fields, way?: Way): Promise<Json> =>
    forms.read(table, (await link({ table, phone: newPhone(), ...fields }, way)).Id);

  for (const way of ways)
    test(`web2table/200: {success: true, accountId, Id}: a row in the target table, and a contact (${way})`, async () => {
      const [phone, before] = [newPhone(), await counts()];
      const account = { account_Name: 'דנה כהן', account_City: 'חיפה', account_F_name: 'דנה', account_L_name: 'כהן' };
      const target = { table_Name: 'נושא + 1', table_N: '7', table_D: '2026-06-01' };
      const { accountId, Id } = await link(
        { table, phone, email: 'a@b.example', idnum: '512345678', ...account, ...target },
        way,
      );
      const [made, linked] = [await forms.read('Accounts', accountId), await forms.read(table, Id)];
      for (const record of [made, linked]) assertByService(record);
      const { Name, City, F_name, L_name, PhoneNumber, Email, CompanyId } = made;
      assert.deepEqual([Name, City, F_name, L_name], ['דנה כהן', 'חיפה', 'דנה', 'כהן']);
      assert.deepEqual([PhoneNumber, Email, CompanyId], [phone, 'a@b.example', '512345678']);
      assert.deepEqual([linked.Name, linked.N, linked.D.iso], ['נושא + 1', 7, '2026-06-01T00:00:00.000Z']);
      assert.deepEqual(linked.AccountId, accountPointer(accountId));
      assert.deepEqual(
        await counts(),
        before.map((count) => count + 1),
      );
    });

  test('a contact has `IsAccount` false unless an `account_` field says otherwise; the lead’s fields are for getlead', async () => {
    const made = await contact({});
    const known = ['ACL', 'IsAccount', 'PhoneNumber', 'createdAt', 'createdBy', 'objectId', 'updatedAt', 'updatedBy'];
    assert.deepEqual(Object.keys(made).sort(), known);
    assert.equal(made.IsAccount, false);
    for (const account_IsAccount of [true, false])
      assert.equal((await contact({ account_IsAccount })).IsAccount, account_IsAccount);
    const own = { account_LeadStatusId: 'abcdefghij', account_fromWeb2lead: 'true' };
    const { LeadStatusId, fromWeb2lead } = await contact(own);
    assert.deepEqual([LeadStatusId, fromWeb2lead], [pointer('LeadStatuses', 'abcdefghij'), undefined]);
  });

  test('`phone`, `email`, `idnum` unless an `account_` field says otherwise', async () => {
    const keys = { phone: newPhone(), email: 'key@b.example', idnum: '1' };
    const own = { account_PhoneNumber: '1-2-3', account_Email: 'own@b.example', account_CompanyId: '2' };
    const { PhoneNumber, Email, CompanyId } = await contact({ ...keys, ...own });
    assert.deepEqual([PhoneNumber, Email, CompanyId], ['1-2-3', 'own@b.example', '2']);
    const empty = await contact({
      ...keys,
      phone: newPhone(),
      account_PhoneNumber: '',
      account_Email: null,
      account_CompanyId: '',
    });
    assert.deepEqual([empty.Email, empty.CompanyId], ['key@b.example', '1']);
    assert.match(empty.PhoneNumber, /^05/);
  });

  test('coercion: key inputs are those of the fields they become', async () => {
    const numbers = await contact({ phone: 97250999000, email: 5, idnum: 512345678 });
    assert.deepEqual([numbers.PhoneNumber, numbers.Email, numbers.CompanyId], ['97250999000', '5', '512345678']);
    const empty = await contact({ email: '', idnum: null });
    assert.deepEqual([empty.Email, empty.CompanyId], [undefined, undefined]);
    const before = await counts();
    for (const [key, field] of [
      ['phone', 'PhoneNumber'],
      ['email', 'Email'],
      ['idnum', 'CompanyId'],
    ] as const)
      for (const [value, got] of [
        [true, 'Boolean'],
        [{ a: 1 }, 'Object'],
        [['x'], 'Array'],
      ] as const)
        assertRefused(
          await send('web2table', { table, phone: newPhone(), [key]: value }),
          mismatch('Accounts', field, 'String', got),
        );
    assert.deepEqual(await counts(), before);
  });

  test('web2table: an existing contact is linked, never updated', async () => {
    const phone = newPhone();
    const id = await forms.create('Accounts', { PhoneNumber: phone, Name: 'old', IsAccount: true });
    const before = await forms.read('Accounts', id);
    const account = { account_Name: 'new', account_City: 'new', account_IsAccount: false, account_PhoneNumber: newPhone() };
    for (const way of ways) {
      const sent = { ...account, ...(way !== 'json' && { account_IsAccount: '' }) };
      const { accountId, Id } = await link({ table, phone, email: 'new@b.example', idnum: '9', ...sent }, way);
      assert.equal(accountId, id);
      assert.deepEqual((await forms.read(table, Id)).AccountId, accountPointer(id));
    }
    assert.deepEqual(await forms.read('Accounts', id), before);
    assert.equal((await forms.find('Accounts', { PhoneNumber: phone })).length, 1);
  });

  test('web2table: one row for each request, all linked to the contact that the first one made', async () => {
    const phone = newPhone();
    const linked = [await link({ table, phone }), await link({ table, phone }), await link({ table, phone })];
    assert.equal(new Set(linked.map(({ accountId }) => accountId)).size, 1);
    assert.equal(new Set(linked.map(({ Id }) => Id)).size, 3);
  });

  test('web2table: field name groups do not mix, and unknown keys are ignored: no error, no column', async () => {
    const [accounts, target] = [await forms.fields('Accounts'), await forms.fields(table)];
    const stray = {
      Name: 'x',
      City: 'x',
      Account_Name: 'x',
      accountName: 'x',
      account: { Name: 'x' },
      TABLE_Name: 'x',
      tableName: 'x',
    };
    const unknown = {
      account_Nope: 'x',
      table_Nope: { a: 1 },
      account_: 'x',
      table_: 'x',
      table_City: 'x',
      account_N: 5,
      'table_a.b': 1,
    };
    const hostile = {
      account_constructor: 'x',
      table_toString: 'x',
      account__phone_key: '1',
      table_$set: 'x',
      'table_Name ': 'x',
    };
    const silenced = {
      dontRunPlatformTriggers: true,
      table_dontUpdatePlatformTimeline: true,
      account_dontUpdatePlatformTimeline: true,
    };
    const body = `{"table_account_Name":"x","account___proto__":{"City":"x"},"__proto__":{"City":"x"},${JSON.stringify({ table, phone: newPhone(), ...stray, ...unknown, ...hostile, ...silenced }).slice(1)}`;
    const answer = await send('web2table', body);
    assert.equal(answer.status, 200, answer.text);
    const own = ['ACL', 'createdAt', 'createdBy', 'objectId', 'updatedAt', 'updatedBy'];
    const made = await forms.read('Accounts', answer.body.accountId);
    assert.deepEqual(Object.keys(made).sort(), [...own, 'IsAccount', 'PhoneNumber'].sort());
    assert.deepEqual(Object.keys(await forms.read(table, answer.body.Id)).sort(), [...own, 'AccountId'].sort());
    assert.deepEqual([await forms.fields('Accounts'), await forms.fields(table)], [accounts, target]);
  });

  test('system fields are the service’s, in the contact and in the row', async () => {
    const own = {
      objectId: 'myownid000',
      createdAt: '2001-01-01',
      ACL: { '*': { read: true } },
      createdBy: 'abcdefghij',
      updatedBy: 5,
    };
    const fields = Object.entries(own).flatMap(([name, value]) => [
      [`account_${name}`, value],
      [`table_${name}`, value],
    ]);
    const { accountId, Id } = await link({ table, phone: newPhone(), objectId: 'myownid001', ...Object.fromEntries(fields) });
    for (const record of [await forms.read('Accounts', accountId), await forms.read(table, Id)]) {
      assertByService(record);
      assert.ok(Date.parse(record.createdAt) > Date.parse('2020-01-01'));
    }
  });

  test('a `table_AccountId` is passed over where the row is linked', async () => {
    for (const value of ['abcdefghij', accountPointer('abcdefghij'), 'short', '', null, {}]) {
      const { accountId, Id } = await link({ table, phone: newPhone(), table_AccountId: value });
      assert.deepEqual((await forms.read(table, Id)).AccountId, accountPointer(accountId));
    }
  });

  test('links through the target’s `AccountId`, where it has one', async () => {
    const bare = await forms.table({ Name: 'String' });
    const text = await forms.table({ AccountId: 'String' });
    const elsewhere = await forms.table({ AccountId: { type: 'Pointer', targetClass: 'Contacts' } });
    for (const target of [bare, text, elsewhere]) {
      const before = await forms.fields(target);
      const { accountId, Id } = await link({ table: target, phone: newPhone(), table_Name: 'x' });
      assert.equal((await forms.read('Accounts', accountId)).IsAccount, false);
      assert.equal((await forms.read(target, Id)).AccountId, undefined);
      assert.deepEqual(await forms.fields(target), before);
    }
    const { Id } = await link({ table: text, phone: newPhone(), table_AccountId: 'own' });
    assert.equal((await forms.read(text, Id)).AccountId, 'own');
  });

  test('web2table: any table of the system can be the target, Accounts too', async () => {
    for (const target of ['Sales', 'Tasks', 'Cases', 'Contacts', 'Activities', 'Notes', 'Products', 'LeadSource', 'Accounts']) {
      const phone = newPhone();
      const { accountId, Id } = await link({ table: target, phone, table_Name: unique('x') });
      assert.notEqual(accountId, Id);
      const { AccountId } = await forms.read(target, Id);
      const isLinked = 'AccountId' in (await forms.fields(target));
      assert.deepEqual(AccountId, isLinked ? accountPointer(accountId) : undefined, target);
    }
  });

  const failing: [string, Fields, Parameters<typeof mismatch>][] = [
    ['the row', { table_N: true, account_Name: 'x' }, ['', 'N', 'Number', 'Boolean']],
    ['the row, by a date', { table_D: '2026-6-1' }, ['', 'D', 'Date', 'String']],
    ['the contact', { account_Birthday: '1/1', table_Name: 'x' }, ['Accounts', 'Birthday', 'Date', 'String']],
    [
      'the contact, by a Pointer',
      { account_LeadSourceId: 'short' },
      ['Accounts', 'LeadSourceId', 'Pointer<LeadSource>', 'String'],
    ],
    ['`account_IsAccount`', { account_IsAccount: 'false' }, ['Accounts', 'IsAccount', 'Boolean', 'String']],
  ];
  for (const [what, fields, [failed, ...more]] of failing)
    test(`contact and row are one commit: what fails is ${what}: neither is there`, async () => {
      const [phone, before] = [newPhone(), await counts()];
      for (let n = 0; n < 3; n++)
        assertRefused(await send('web2table', { table, phone, ...fields }), mismatch(failed || table, ...more));
      assert.deepEqual(await counts(), before);
      // `account_` values are checked even if the contact exists.
      const id = await forms.create('Accounts', { PhoneNumber: phone });
      assertRefused(await send('web2table', { table, phone, ...fields }), mismatch(failed || table, ...more));
      assert.equal((await link({ table, phone })).accountId, id);
    });

  test('two requests for one new phone make one contact', async () => {
    for (let round = 0; round < 5; round++) {
      const phone = newPhone();
      const spelled = [phone, `972${phone.slice(1)}`, `+972-${phone.slice(1)}`, `${phone.slice(0, 3)}-${phone.slice(3)}`];
      const before = await counts();
      const linked = await Promise.all([...spelled, ...spelled, ...spelled].map((sent) => link({ table, phone: sent })));
      assert.equal(new Set(linked.map(({ accountId }) => accountId)).size, 1);
      assert.equal(new Set(linked.map(({ Id }) => Id)).size, linked.length);
      const [accounts = 0, rows = 0] = before;
      assert.deepEqual(await counts(), [accounts + 1, rows + linked.length]);
    }
  });

  test('a request that fails does not hold up the next one with its phone', async () => {
    const phone = newPhone();
    const before = await forms.count('Accounts');
    const sent = Array.from({ length: 12 }, (_, n) => send('web2table', { table, phone, ...(n % 2 === 0 && { table_N: true }) }));
    const answers = await Promise.all(sent);
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? 400 : 200)),
    );
    assert.equal(await forms.count('Accounts'), before + 1);
  });

  test('a target table that is made, or gone, counts at once', async () => {
    const fresh = unique('Fresh');
    assert.equal((await send('web2table', { table: fresh, phone: newPhone() })).body.code, 103);
    await forms.table(linkField, fresh);
    const { Id } = await link({ table: fresh, phone: newPhone(), table_Late: 'x' });
    await forms.addFields(fresh, { Late: { type: 'String' } });
    assert.equal((await forms.read(fresh, (await link({ table: fresh, phone: newPhone(), table_Late: 'x' })).Id)).Late, 'x');
    for (const { objectId } of await forms.all(fresh)) await forms.remove(fresh, objectId);
    assert.ok(Id);
    await forms.call('DELETE', `/platform/schemas/${fresh}`);
    assert.equal((await send('web2table', { table: fresh, phone: newPhone() })).body.code, 103);
  });

  test('coercion: an empty value is not written, in the row too', async () => {
    const { Name, N, D } = await row({ table_Name: '', table_N: '', table_D: null });
    assert.deepEqual([Name, N, D], [undefined, undefined, undefined]);
  });

  test('web2table: `AcceptWebLeads` need not be on', async () => {
    await forms.setFlag('AcceptWebLeads', { AcceptWebLeads: false });
    await link({ table, phone: newPhone() });
    await forms.setFlag('AcceptWebLeads', on('AcceptWebLeads'));
  });
});
