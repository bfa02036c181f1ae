/** A form that a user has opened does no more than that user may do (docs/adr/0015). */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { forAll } from '../support/permissions.ts';
import type { Json } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { setRole, signUp, type User } from '../support/users.ts';
import { assertError, disabled, newPhone, on, onEachEngine } from './forms.ts';

const flag = 'AcceptWebToTable';

onEachEngine((forms) => {
  let admin: User;
  let table: string;
  const as = () => ({ session: admin.token });
  const setRules = async (className: string, classLevelPermissions: object) => {
    const answer = await forms.call('PUT', `/platform/schemas/${className}`, { body: { classLevelPermissions } });
    assert.equal(answer.status, 200, answer.text);
  };
  /** Changes some permissions of a table; returns a function that restores them. */
  const permit = async (className: string, some: object) => {
    const { body } = await forms.call('GET', `/platform/schemas/${className}`);
    await setRules(className, { ...body.classLevelPermissions, ...some });
    return () => setRules(className, { protectedFields: {}, ...body.classLevelPermissions });
  };
  const writesFlag = async (name: string, value: object, options = as()) => {
    await forms.setFlag(name);
    const answer = await forms.call('POST', '/platform/classes/Config', { body: { Name: name, Value: value }, ...options });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.objectId as string;
  };
  const fill = (fields: Json = {}, name = table) =>
    forms.send('web2table', { table: name, phone: newPhone(), table_Name: 'n', ...fields });
  const assertOpen = async (fields?: Json, name?: string) => {
    const answer = await fill(fields, name);
    assert.equal(answer.status, 200, answer.text);
  };
  const assertClosed = async (fields?: Json, name?: string) => {
    const counts = () => Promise.all([forms.count('Accounts'), forms.count(name ?? table)]);
    const before = await counts();
    assertError(await fill(fields, name), disabled(flag));
    assert.deepEqual(await counts(), before);
  };

  before(async () => {
    await forms.openForms();
    admin = await signUp(forms);
    await setRole(forms, admin.id, 'Admin');
    table = await forms.table({ Name: 'String', Secret: 'String' });
    await permit(table, forAll({ 'role:Admin': true }));
  });

  test('a form writes where its author may create, and nowhere else', async () => {
    const other = await forms.table({ Name: 'String' });
    await permit(other, { create: {} });
    await writesFlag(flag, on(flag));
    await assertOpen();
    await assertClosed({}, other);
    const restore = await permit('Accounts', { create: {} });
    await assertClosed();
    await restore();
    await assertOpen();
  });

  test('a form does not write what is hidden from its author, in the row and in its contact', async () => {
    await writesFlag(flag, on(flag));
    await permit(table, { protectedFields: { '*': ['Secret'] } });
    await assertOpen();
    await assertClosed({ table_Secret: 'x' });
    const restore = await permit('Accounts', { protectedFields: { '*': ['City'] } });
    await assertClosed({ account_City: 'x' });
    await assertOpen({ account_Name: 'x' });
    await restore();
    await permit(table, { protectedFields: {} });
    await assertOpen({ table_Secret: 'x', account_City: 'x' });
  });

  test('defaults of a contact count where the user may set them', async () => {
    await forms.setFlag(flag, on(flag));
    await writesFlag('AcceptWebLeads', on('AcceptWebLeads', { DefaultValues: { Account: { City: 'Haifa' } } }));
    const city = async () => forms.read('Accounts', (await forms.link({ table, phone: newPhone() })).accountId);
    assert.equal((await city()).City, 'Haifa');
    const restore = await permit('Accounts', { protectedFields: { '*': ['City'] } });
    assert.equal((await city()).City, undefined);
    assertError(await forms.send('getlead', { PhoneNumber: newPhone(), City: 'x' }), disabled('AcceptWebLeads'));
    await forms.lead({ PhoneNumber: newPhone() });
    await restore();
    await forms.lead({ PhoneNumber: newPhone(), City: 'x' });
    await forms.setFlag('AcceptWebLeads', on('AcceptWebLeads'));
  });

  test('the last writer of the row counts: a key opens the form for good, a change by a session makes it of that user', async () => {
    const closed = await forms.table({ Name: 'String' });
    await permit(closed, { create: {} });
    const row = await writesFlag(flag, on(flag));
    await assertClosed({}, closed);
    const change = async (options: object) => {
      const answer = await forms.call('PUT', `/platform/classes/Config/${row}`, { body: { Value: on(flag) }, ...options });
      assert.equal(answer.status, 200, answer.text);
    };
    await change({});
    await assertOpen({}, closed);
    await change(as());
    await assertClosed({}, closed);
    await change({ as: 'apiKey' });
    await assertOpen({}, closed);
  });

  test('roles of the user are the present ones; that the user has left does not close a form', async () => {
    const leaver = await signUp(forms);
    await setRole(forms, leaver.id, 'Admin');
    await writesFlag(flag, on(flag), { session: leaver.token });
    const left = await forms.call('PUT', `/platform/users/${leaver.id}`, { body: { active: false } });
    assert.equal(left.status, 200, left.text);
    await assertOpen();
    const [role] = await forms.find('_Role', { name: 'Admin' });
    const users = (op: string) => ({
      users: { __op: op, objects: [{ __type: 'Pointer', className: '_User', objectId: leaver.id }] },
    });
    const setMembers = async (op: string) => {
      const answer = await forms.call('PUT', `/platform/roles/${role?.objectId}`, { body: users(op) });
      assert.equal(answer.status, 200, answer.text);
    };
    await setMembers('RemoveRelation');
    await assertClosed();
    await setMembers('AddRelation');
    await assertOpen();
  });

  test('a trigger that opens a form opens it as its author', async () => {
    const closed = await forms.table({ Name: 'String' });
    await permit(closed, { create: {} });
    const from = await forms.table({ Name: 'String' });
    await permit(from, forAll({ 'role:Admin': true }));
    const actions = [{ type: 'create-object', actionData: { table: 'Config', fields: { Name: flag, Value: on(flag) } } }];
    const body = { Name: 'opens', table: from, events: ['create'], actions };
    for (const [options, isOpen] of [
      [as(), false],
      [{}, true],
    ] as const) {
      await forms.setFlag(flag);
      const trigger = await forms.call('POST', '/platform/classes/_Trigger', { body, ...options });
      assert.equal(trigger.status, 201, trigger.text);
      await forms.create(from, { Name: 'x' });
      await soon(async () => assert.equal((await forms.find('Config', { Name: flag })).length, 1));
      await assertOpen();
      await (isOpen ? assertOpen({}, closed) : assertClosed({}, closed));
      await forms.remove('_Trigger', trigger.body.objectId);
    }
  });
});
