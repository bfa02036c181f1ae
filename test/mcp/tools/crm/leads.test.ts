/** Reference: tools.md#convert-lead, tools.md#assign-owner, tools.md#add-note. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer } from '../../../support/records.ts';
import { signUp } from '../../../support/users.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { replaceField } from '../restored.ts';
import { lookupId } from '../tables.ts';

const NO_ID = 'zzzzzzzzzz';

onEachEngine('leads', (tools) => {
  const { use, refused, create, read, all, call } = tools;
  const timeline = async (id: string): Promise<Json[]> =>
    (await call('GET', '/platform/classes/_Timeline', { query: { where: { objectIdValue: id }, order: 'createdAt' } })).body
      .results;

  test('Convert-Lead: a lead becomes a customer, once', async () => {
    const id = await create('Accounts', { Name: 'Lead', IsAccount: false });
    const status = await lookupId(tools, 'AccountStatuses', {});
    const owner = await signUp(tools);
    const done = await use('Convert-Lead', { objectId: id, statusId: status, ownerId: owner.id });
    assert.deepEqual([done.objectId, done.converted], [id, true]);
    const stored = await read('Accounts', id);
    assert.equal(stored.IsAccount, true);
    assert.deepEqual(stored.StatusId, pointer('AccountStatuses', status));
    assert.deepEqual(stored.OwnerId, pointer('_User', owner.id));
    assert.deepEqual(
      (await timeline(id)).map(({ event }) => event),
      ['create', 'update'],
    );
    const again = await use('Convert-Lead', { objectId: id });
    assert.deepEqual([again.converted, again.alreadyCustomer], [false, true]);
    assert.equal((await read('Accounts', id)).updatedAt, stored.updatedAt);
  });

  test('Convert-Lead: what is wrong leaves the lead as it was', async () => {
    const id = await create('Accounts', { Name: 'Lead' });
    const inactive = await signUp(tools, { active: false });
    const lead = await lookupId(tools, 'LeadStatuses', {});
    const before = await read('Accounts', id);
    await refused('Convert-Lead', { objectId: NO_ID }, 101, /^Object not found/);
    await refused('Convert-Lead', { objectId: id, statusId: lead }, 107, /AccountStatuses has no such record/);
    await refused('Convert-Lead', { objectId: id, ownerId: NO_ID }, 107, /ownerId: there is no such user/);
    await refused('Convert-Lead', { objectId: id, ownerId: inactive.id }, 107, /ownerId: the user is not active/);
    await refused('Convert-Lead', { objectId: id, ownerId: 'master' }, 107, /no such user/);
    await refused('Convert-Lead', {}, 107, /objectId is required/);
    assert.deepEqual(await read('Accounts', id), before);
  });

  test('Assign-Owner: each record has its own outcome', async () => {
    const owner = await signUp(tools);
    const ids = [await create('Accounts', { Name: 'a' }), await create('Accounts', { Name: 'b' })];
    const given = await use('Assign-Owner', { table: 'Accounts', objectIds: [ids[0], NO_ID, ids[1]], userId: owner.id });
    assert.deepEqual([given.succeeded, given.failed, given.field], [2, 1, 'OwnerId']);
    assert.deepEqual(given.results[0], { success: { objectId: ids[0] } });
    assert.equal(given.results[1].error.code, 101);
    for (const id of ids) assert.deepEqual((await read('Accounts', id)).OwnerId, pointer('_User', owner.id));
    await use('Assign-Owner', { table: 'Accounts', objectIds: [ids[0]], userId: owner.id, field: 'LeadOwnerId' });
    assert.deepEqual((await read('Accounts', ids[0] ?? '')).LeadOwnerId, pointer('_User', owner.id));
  });

  test('Assign-Owner: a thousand that do not exist are reported within the size of an answer', async () => {
    const owner = await signUp(tools);
    const objectIds = Array.from({ length: 1_000 }, (_, n) => `none${String(n).padStart(6, '0')}`);
    const reported = await use('Assign-Owner', { table: 'Tasks', objectIds, userId: owner.id });
    assert.deepEqual([reported.failed, reported.results.length], [1_000, 1_000]);
    assert.ok(bytesOf(reported) <= MAX_BYTES);
    await refused('Assign-Owner', { table: 'Tasks', objectIds: [...objectIds, 'x'], userId: owner.id }, 107, /1000/);
  });

  test('Assign-Owner: wrong arguments', async () => {
    const owner = await signUp(tools);
    const args = { table: 'Accounts', objectIds: [await create('Accounts', {})], userId: owner.id };
    await refused('Assign-Owner', { ...args, objectIds: [] }, 107, /must not be empty/);
    await refused('Assign-Owner', { ...args, userId: NO_ID }, 107, /userId: there is no such user/);
    await refused('Assign-Owner', { ...args, field: 'createdBy' }, 107, /One of OwnerId, LeadOwnerId/);
    await refused('Assign-Owner', { ...args, field: 'StatusId' }, 107, /no Pointer StatusId to users/);
    await refused('Assign-Owner', { ...args, table: 'TaskStatuses' }, 107, /has no owner/);
    await refused('Assign-Owner', { ...args, table: 'Nothing' }, 103, /Nothing/);
  });

  test('Add-Note: by the Pointer of the table, and by its account', async () => {
    const account = await create('Accounts', { Name: 'a' });
    const sale = await create('Sales', { Name: 's', AccountId: pointer('Accounts', account) });
    const one = await use('Add-Note', { table: 'Accounts', objectId: account, comment: 'Called <b>twice</b>', name: 'Call' });
    const stored = await read('Notes', one.objectId);
    assert.deepEqual([stored.Name, stored.Comment], ['Call', 'Called <b>twice</b>']);
    assert.deepEqual(stored.AccountId, pointer('Accounts', account));
    const other = await read('Notes', (await use('Add-Note', { table: 'Sales', objectId: sale, comment: 'x' })).objectId);
    assert.deepEqual([other.SaleId, other.AccountId], [pointer('Sales', sale), pointer('Accounts', account)]);
    assert.equal((await timeline(one.objectId)).length, 1);
  });

  test('Add-Note: wrong arguments', async () => {
    const count = (await all('Notes')).length;
    const product = await create('Products', { Name: 'p' });
    const text = await refused('Add-Note', { table: 'Products', objectId: product, comment: 'x' }, 107, /Products/);
    assert.match(text.expected, /Accounts, Contacts, Sales, Cases, Tasks, Activities/);
    await refused('Add-Note', { table: 'Accounts', objectId: NO_ID, comment: 'x' }, 101, /^Object not found/);
    await refused('Add-Note', { table: 'Accounts', objectId: NO_ID, comment: '' }, 107, /comment/);
    await refused('Add-Note', { table: 'Nothing', objectId: NO_ID, comment: 'x' }, 103, /Nothing/);
    assert.equal((await all('Notes')).length, count);
  });

  test('a user writes as that user, and what the roles allow', async () => {
    const seller = await byUser(tools, ['Sales']);
    const reader = await byUser(tools, ['ReadOnly']);
    const id = await create('Accounts', { Name: 'Lead' });
    await reader.refused('Convert-Lead', { objectId: id }, 119, /^Permission denied for action update on class Accounts/);
    await reader.refused('Add-Note', { table: 'Accounts', objectId: id, comment: 'x' }, 119, /create on class Notes/);
    const given = { table: 'Accounts', objectIds: [id], userId: reader.id };
    await reader.refused('Assign-Owner', given, 119, /^Permission denied for action update on class Accounts/);
    assert.equal((await seller.use('Convert-Lead', { objectId: id, ownerId: seller.id })).converted, true);
    const note = await seller.use('Add-Note', { table: 'Accounts', objectId: id, comment: 'x' });
    assert.deepEqual((await read('Notes', note.objectId)).createdBy, pointer('_User', seller.id));
    assert.deepEqual((await read('Accounts', id)).updatedBy, pointer('_User', seller.id));
    const viewer = await byUser(tools, ['Sales'], ['mcp:view']);
    await viewer.refused('Add-Note', { table: 'Accounts', objectId: id, comment: 'x' }, 119, /create on class Notes/);
    await viewer.refused('Convert-Lead', { objectId: id }, 119, /update on class Accounts/);
    await viewer.refused('Assign-Owner', { table: 'Accounts', objectIds: [id], userId: viewer.id }, 119, /on class Accounts/);
  });

  test('systems are customised: a field that is gone is reported', async (t) => {
    await replaceField(t, tools, 'Accounts', 'IsAccount');
    const id = await create('Accounts', { Name: 'x' });
    await refused('Convert-Lead', { objectId: id }, 107, /Accounts has no field IsAccount of type Boolean in this system/);
  });
});
