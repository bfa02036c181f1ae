/** Fields that a form cannot set: server-controlled and system fields, and keys that are no fields. Reference: functions.md#getlead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, type Json, mismatch, pointer } from '../support/records.ts';
import { signUp } from '../support/users.ts';
import { assertByService, newPhone, onEachEngine, ways } from './forms.ts';

onEachEngine((forms) => {
  const { send, lead } = forms;

  test('getlead: server-controlled fields: `IsAccount` always false, `fromWeb2lead` always true', async () => {
    for (const sent of [true, false]) {
      const { IsAccount, fromWeb2lead } = await lead({ PhoneNumber: newPhone(), IsAccount: sent, fromWeb2lead: sent });
      assert.deepEqual([IsAccount, fromWeb2lead], [false, true]);
    }
    const { IsAccount, fromWeb2lead } = await lead({ PhoneNumber: newPhone(), fromWeb2lead: 'no', IsAccount: '' }, 'form');
    assert.deepEqual([IsAccount, fromWeb2lead], [false, true]);
  });

  test('server-controlled fields that are sent are checked like any other', async () => {
    for (const [sent, field, expected, got] of [
      [{ IsAccount: 'true' }, 'IsAccount', 'Boolean', 'String'],
      [{ IsAccount: 1 }, 'IsAccount', 'Boolean', 'Number'],
      [{ fromWeb2lead: 1 }, 'fromWeb2lead', 'Boolean', 'Number'],
      [{ LeadStatusId: 'short' }, 'LeadStatusId', 'Pointer<LeadStatuses>', 'String'],
      [{ LeadStatusId: pointer('Tags', 'abcdefghij') }, 'LeadStatusId', 'Pointer<LeadStatuses>', 'Pointer<Tags>'],
    ] as const) {
      const before = await forms.count('Accounts');
      assertRefused(await send('getlead', { PhoneNumber: newPhone(), ...sent }), mismatch('Accounts', field, expected, got));
      assert.equal(await forms.count('Accounts'), before);
    }
  });

  test('getlead: the system fields are the service’s', async () => {
    const { id } = await signUp(forms);
    const own = { objectId: 'myownid000', createdAt: '2001-01-01T00:00:00.000Z', updatedAt: '2001-01-01T00:00:00.000Z' };
    const rights = { ACL: { [id]: { read: true, write: true } }, createdBy: pointer('_User', id), updatedBy: id };
    const hidden = { _id: 'myownid000', _created_at: 5, _rperm: ['*'], _wperm: [], __type: 'Pointer', className: 'Sales' };
    for (const way of ways) {
      const since = Date.now() - 60_000;
      const record = await lead({ PhoneNumber: newPhone(), ...own, ...(way === 'json' && { ...rights, ...hidden }) }, way);
      assertByService(record);
      assert.notEqual(record.objectId, own.objectId);
      assert.ok(Date.parse(record.createdAt) > since);
      assert.equal(record.updatedAt, record.createdAt);
    }
    assert.equal((await send('getlead', { PhoneNumber: newPhone(), ACL: 'x', createdBy: 5, createdAt: [] })).status, 200);
  });

  test('form layer: keys that are not in the schema are ignored: no error, no storage, no column', async () => {
    const before = await forms.fields('Accounts');
    const flags = ['dontRunPlatformTriggers', 'dontUpdatePlatformTimeline', 'dontRunPlatformTriggersCreate'];
    const silenced = Object.fromEntries([...flags, 'dontRunPlatformTriggersUpdate', 'skipTriggers'].map((name) => [name, true]));
    const odd = [
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      ' ',
      'a.b',
      '$set',
      '_phone_key',
      'Name ',
      'name',
      'שדה',
      'account_Name',
      '1',
    ];
    const unknown = {
      UnknownField: 'x',
      Unknown: { a: [1] },
      ...Object.fromEntries(odd.map((name) => [name, 'x'])),
      ...silenced,
    };
    const known = [
      'ACL',
      'IsAccount',
      'LeadStatusId',
      'PhoneNumber',
      'createdAt',
      'createdBy',
      'fromWeb2lead',
      'objectId',
      'updatedAt',
      'updatedBy',
    ];
    for (const way of ways) {
      const record = await lead({ PhoneNumber: newPhone(), ...unknown, ...(way !== 'json' && { Unknown: 'x' }) }, way);
      assert.deepEqual(Object.keys(record).sort(), known);
    }
    assert.deepEqual(
      Object.keys((await lead({ PhoneNumber: newPhone(), ...JSON.parse('{"__proto__": {"City": "x"}}') })) as Json).sort(),
      known,
    );
    assert.deepEqual(await forms.fields('Accounts'), before);
  });
});
