/** Forms of two systems of one service, and of one system that two processes serve. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { both, describeProcesses, times, warm } from '../processes/processes.ts';
import { storeOf } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { assertError, disabled, type Forms, formsOf, newPhone, on, onEachEngine } from './forms.ts';

const flag = 'AcceptWebLeads';

onEachEngine((forms) => {
  let system: System;
  const other = formsOf(
    storeOf(() => {
      const service = forms.service();
      return { ...service, ...system, call: (method, path, options) => callSystem(service, system, method, path, options) };
    }),
  );
  before(async () => {
    system = await addSystem(forms.service(), '--name', 'Other');
    for (const each of [forms, other]) await each.openForms();
  });

  test('Server-side functions: the application id in the path decides the target system', async () => {
    const [here, there] = [await forms.count('Accounts'), await other.count('Accounts')];
    const headers = { 'X-Platform-Application-Id': forms.service().appId, 'X-Platform-Master-Key': forms.service().masterKey };
    const answer = await other.send('getlead', { PhoneNumber: newPhone() }, 'json', headers);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([await forms.count('Accounts'), await other.count('Accounts')], [here, there + 1]);
  });

  test('Server-side functions: an unknown application id: 403 {error: unauthorized}', async () => {
    for (const appId of ['nope', '__proto__', 'constructor', `${system.appId}x`])
      for (const fn of ['getlead', 'web2table', 'nope']) {
        const response = await fetch(`${forms.service().url}/functions/${appId}/${fn}`, { method: 'POST', body: '{}' });
        assert.deepEqual([response.status, await response.json()], [403, { error: 'unauthorized' }]);
      }
  });

  test('getlead: an account of another system is no duplicate; the statuses are the system’s own', async () => {
    const PhoneNumber = newPhone();
    const Email = `${PhoneNumber}@example.com`;
    for (let n = 0; n < 2; n++)
      for (const each of [forms, other]) {
        const { LeadStatusId } = await each.lead({ PhoneNumber, Email });
        assert.equal(LeadStatusId.objectId, await each.status(n === 0 ? 'new' : 'duplicate'));
      }
    assert.notEqual(await forms.status('new'), await other.status('new'));
  });

  test('web2table: one new phone at once in both: each has its contact', async () => {
    const phone = newPhone();
    const linked = await Promise.all([forms, other, forms, other].map((each) => each.link({ table: 'Tasks', phone })));
    assert.equal(new Set(linked.map(({ accountId }) => accountId)).size, 2);
    for (const each of [forms, other]) assert.equal((await each.find('Accounts', { PhoneNumber: phone })).length, 1);
  });

  test('Config: the flags and defaults are the system’s own', async () => {
    await other.setFlag(flag, { [flag]: false, DefaultValues: { Account: { City: 'other' } } });
    assertError(await other.send('getlead', { PhoneNumber: newPhone() }), disabled(flag));
    await forms.lead({ PhoneNumber: newPhone() });
    const cityOf = async (each: Forms) =>
      (await each.read('Accounts', (await each.link({ table: 'Tasks', phone: newPhone() })).accountId)).City;
    assert.deepEqual([await cityOf(forms), await cityOf(other)], [undefined, 'other']);
  });
});

describeProcesses('forms over two processes', (stores) => {
  const [a, b] = both(stores).map(formsOf) as [Forms, Forms];
  before(() => a.openForms());

  test('a flag that is changed by way of one counts on the other within a second', async () => {
    const [row] = await a.find('Config', { Name: flag });
    await warm(() => b.lead({ PhoneNumber: newPhone() }));
    await a.update('Config', row.objectId, { Value: { [flag]: false } });
    await soon(async () => assertError(await b.send('getlead', { PhoneNumber: newPhone() }), disabled(flag)));
    await a.update('Config', row.objectId, { Value: on(flag) });
    await soon(async () => assert.equal((await b.send('getlead', { PhoneNumber: newPhone() })).status, 200));
  });

  test('a status whose key moves by way of one counts on the other within a second', async () => {
    const old = await a.status('new');
    const fresh = await a.create('LeadStatuses', { Name: 'fresh' });
    await warm(() => b.lead({ PhoneNumber: newPhone() }));
    await a.update('LeadStatuses', old, { SystemKey: null });
    await a.update('LeadStatuses', fresh, { SystemKey: 'new' });
    await soon(async () => assert.equal((await b.lead({ PhoneNumber: newPhone() })).LeadStatusId.objectId, fresh));
  });

  test('a contact that one has made is the other’s at once', async () => {
    for (let round = 0; round < 10; round++) {
      const phone = newPhone();
      const { accountId } = await a.link({ table: 'Tasks', phone });
      assert.equal((await b.link({ table: 'Tasks', phone: `+972-${phone.slice(1)}` })).accountId, accountId);
      assert.equal((await b.lead({ PhoneNumber: phone })).LeadStatusId.objectId, await b.status('duplicate'));
    }
  });

  test('two processes may make two contacts of one new phone at once, but never more, and all later ones link the first', async () => {
    for (let round = 0; round < 5; round++) {
      const phone = newPhone();
      const linked = await times(8, (n) => (n % 2 === 0 ? a : b).link({ table: 'Tasks', phone }));
      const contacts = await a.find('Accounts', { PhoneNumber: phone });
      assert.ok(contacts.length <= 2, String(contacts.length));
      const ids = new Set(contacts.map(({ objectId }) => objectId));
      assert.ok(linked.every(({ accountId }) => ids.has(accountId)));
      for (const each of [a, b]) assert.equal((await each.link({ table: 'Tasks', phone })).accountId, contacts[0].objectId);
    }
  });
});
