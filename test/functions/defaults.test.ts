/** `DefaultValues.Account` of the lead flag: defaults of the created contact, effective only for `web2table`. Reference: system-tables.md#config. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type Json, mismatch, pointer } from '../support/records.ts';
import { assertByService, type Fields, newPhone, on, onEachEngine } from './forms.ts';

const flag = 'AcceptWebLeads';

onEachEngine((forms) => {
  const { send, link } = forms;
  let source = '';
  before(async () => {
    await forms.openForms();
    source = await forms.create('LeadSource', { Name: 'site' });
  });

  const setDefaults = (Account: unknown, value: object = on(flag)) =>
    forms.setFlag(flag, { ...value, DefaultValues: { Account } });
  const contact = async (fields: Fields = {}, fn?: string): Promise<Json> =>
    forms.read('Accounts', (await link({ table: 'Tasks', phone: newPhone(), ...fields }, 'json', fn)).accountId);

  test('DefaultValues.Account: what the created contact has, unless it was sent', async () => {
    await setDefaults({ City: 'default', Name: 'default', CompanyId: '5', Email: 'default@b.example', LeadSourceId: source });
    for (const fn of ['web2table', 'web2case', 'web2sale']) {
      const made = await contact({ account_Name: 'sent', email: 'sent@b.example' }, fn);
      assert.deepEqual([made.City, made.Name, made.CompanyId, made.Email], ['default', 'sent', '5', 'sent@b.example']);
      assert.deepEqual(made.LeadSourceId, pointer('LeadSource', source));
    }
    const { CompanyId, Email } = await contact({ idnum: '6', account_Email: 'own@b.example' });
    assert.deepEqual([CompanyId, Email], ['6', 'own@b.example']);
  });

  test('DefaultValues.Account: an existing contact is never updated', async () => {
    await setDefaults({ City: 'default' });
    const phone = newPhone();
    const id = await forms.create('Accounts', { PhoneNumber: phone });
    const before = await forms.read('Accounts', id);
    assert.equal((await contact({ phone })).objectId, id);
    assert.deepEqual(await forms.read('Accounts', id), before);
  });

  test('the defaults count whether that flag is on or off, and a change at once', async () => {
    for (const value of [{ [flag]: false }, {}, on(flag)]) {
      await setDefaults({ City: 'off' }, value);
      assert.equal((await contact()).City, 'off');
    }
    await setDefaults({ City: 'changed' });
    assert.equal((await contact()).City, 'changed');
    await forms.setFlag(flag);
    assert.equal((await contact()).City, undefined);
  });

  test('Config: if several rows share a `Name`, the one created first is used', async () => {
    await setDefaults({ City: 'first' });
    const later = { Name: flag, Value: on(flag, { DefaultValues: { Account: { City: 'second' } } }) };
    await forms.create('Config', { objectId: '0000000002', ...later });
    assert.equal((await contact()).City, 'first');
  });

  test('DefaultValues.Account: of the row `AcceptWebLeads` alone', async () => {
    await forms.setFlag(flag, on(flag));
    const more = { DefaultValues: { Account: { City: 'of web2table' } } };
    await forms.setFlag('AcceptWebToTable', on('AcceptWebToTable', more));
    assert.equal((await contact()).City, undefined);
    await forms.setFlag('AcceptWebToTable', on('AcceptWebToTable'));
  });

  test('a default says `IsAccount`; an `account_` field that is sent wins', async () => {
    await setDefaults({ IsAccount: true });
    assert.equal((await contact()).IsAccount, true);
    assert.equal((await contact({ account_IsAccount: false })).IsAccount, false);
  });

  test('defaults are held to the rules of `account_` values: what is coerced', async () => {
    const sent = { Birthday: '2000-02-29', Unsubscribed: 'true', OwnerId: 'abcdefghij', Comment: 5, City: '', Name: null };
    await setDefaults({ ...sent, array_tags_Pointer_Tags: [pointer('Tags', 'abcdefghij')] });
    const made = await contact();
    assert.deepEqual(made.Birthday, { __type: 'Date', iso: '2000-02-29T00:00:00.000Z' });
    assert.deepEqual([made.Unsubscribed, made.Comment, made.City, made.Name], [true, '5', undefined, undefined]);
    assert.deepEqual(made.OwnerId, pointer('_User', 'abcdefghij'));
    assert.deepEqual(made.array_tags_Pointer_Tags, [pointer('Tags', 'abcdefghij')]);
  });

  test('defaults are held to the rules of `account_` values: unknown keys and system fields are ignored', async () => {
    const before = await forms.fields('Accounts');
    const own = { objectId: 'myownid000', createdAt: '2001-01-01', ACL: { '*': { read: true } }, createdBy: 'abcdefghij' };
    await setDefaults({ ...own, Nope: 'x', _phone_key: '1', dontRunPlatformTriggers: true, account_Name: 'x', City: 'kept' });
    const made = await contact();
    assertByService(made);
    assert.deepEqual([made.City, made.Name], ['kept', undefined]);
    assert.deepEqual(await forms.fields('Accounts'), before);
  });

  for (const [defaults, field, expected, got] of [
    [{ LeadSourceId: 'short' }, 'LeadSourceId', 'Pointer<LeadSource>', 'String'],
    [{ City: true }, 'City', 'String', 'Boolean'],
    [{ IsAccount: 'true' }, 'IsAccount', 'Boolean', 'String'],
    [{ Birthday: '2000-2-1' }, 'Birthday', 'Date', 'String'],
  ] as const)
    test(`a default that is wrong fails the whole request: ${JSON.stringify(defaults)}`, async () => {
      await setDefaults(defaults);
      const before = [await forms.count('Accounts'), await forms.count('Tasks')];
      const answer = await send('web2table', { table: 'Tasks', phone: newPhone() });
      assertRefused(answer, mismatch('Accounts', field, expected, got));
      assert.deepEqual([await forms.count('Accounts'), await forms.count('Tasks')], before);
    });

  test('DefaultValues.Account: a value that is no object sets nothing, and forms work', async () => {
    for (const defaults of [undefined, null, 'x', 5, true, [], ['City'], {}]) {
      await setDefaults(defaults);
      assert.equal((await contact()).City, undefined);
    }
    for (const DefaultValues of [null, 'x', 5, [], {}, { Accounts: { City: 'x' } }, { Sales: { Name: 'x' } }]) {
      await forms.setFlag(flag, on(flag, { DefaultValues }));
      assert.equal((await contact()).City, undefined);
    }
  });
});
