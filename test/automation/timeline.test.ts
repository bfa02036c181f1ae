/** `updatedByTrigger` in the data of what triggers write. Reference: system-tables.md#_timeline. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { rowsOf } from '../audit/rows.ts';
import { type Json, master, pointer } from '../support/records.ts';
import { signUp, userPointer } from '../support/users.ts';
import { called, changed, creates, gone, made, mailed, mails, runs, runsCode, updates } from './effects.ts';
import { onAnyEngine } from './world.ts';

onAnyEngine((world) => {
  let table: string;
  let target: string;
  beforeEach(async () => {
    target = await world.place({ AccountId: 'Pointer:Accounts', n: 'Number' });
    table = await world.place({ AccountId: 'Pointer:Accounts', P: `Pointer:${target}`, Target: 'String', n: 'Number' });
  });
  /** Of any row of a write by a trigger. */
  const assertByTrigger = (row: Json, event: string, referer?: string) =>
    assert.deepEqual([row.event, row.user, row.createdBy, row.updatedBy, row.Referer], [event, master, master, master, referer]);

  test('create-object: the fields that were written, then updatedByTrigger; master, no Referer, index columns', async () => {
    const account = pointer('Accounts', await world.create('Accounts', { Name: 'a' }));
    const fields = { n: 5, Name: 'for {{Name}}', AccountId: '{{AccountId}}' };
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates(target, fields)] });
    const act = () => world.create(table, { Name: 'x', AccountId: account });
    const id = await world.effects(act, made(table), made(target), runs());
    const [{ objectId }] = (await world.find(target)) as [Json];
    const [row] = (await rowsOf(world, target, objectId)) as [Json];
    assertByTrigger(row, 'create');
    assert.deepEqual(row.data, { n: 5, Name: 'for x', AccountId: account, updatedByTrigger: trigger });
    assert.equal(Object.keys(row.data).at(-1), 'updatedByTrigger');
    assert.deepEqual([row.AccountId, row.Last, row.objectIdValue], [account, true, objectId]);
    // The row of the client's own write names no trigger, nor does the record that a trigger created.
    const [own] = (await rowsOf(world, table, id)) as [Json];
    assert.deepEqual(own.data, { Name: 'x', AccountId: account });
    assert.equal('updatedByTrigger' in (await world.read(target, objectId)), false);
    for (const name of [table, target]) assert.equal('updatedByTrigger' in (await world.fields(name)), false);
  });

  test('update-object: each row has the trigger that wrote it; Last is the newest', async () => {
    const increment = { n: { __op: 'Increment', amount: 1 } };
    const toSelf = await world.trigger({ table, events: ['create'], actions: [updates('self', { n: 7 })] });
    const toOther = await world.trigger({ table, events: ['create'], actions: [updates('P', increment)] });
    const to = await world.create(target, {});
    const act = () => world.create(table, { P: pointer(target, to) });
    const id = await world.effects(act, made(table), changed(table), changed(target), runs(2));
    const [, own] = await rowsOf(world, table, id);
    assertByTrigger(own, 'update');
    assert.deepEqual(own.data, { n: 7, updatedByTrigger: toSelf });
    const [first, other] = (await rowsOf(world, target, to)) as [Json, Json];
    assert.deepEqual(other.data, { ...increment, updatedByTrigger: toOther });
    assert.deepEqual([first.Last, other.Last], [false, true]);
  });

  test('a UI edit is by the user from their page; what its triggers write is by master from nowhere', async () => {
    const user = await signUp(world);
    const page = 'https://crm.example/accounts/5';
    const actions = [updates('self', { n: 1 }), creates(target, { n: 2 })];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    const options = { session: user.token, headers: { Referer: page } };
    const id = await world.effects(
      () => world.create(table, { Name: 'x' }, options),
      made(table),
      changed(table),
      made(target),
      runs(1, 2),
    );
    const [edit, own] = (await rowsOf(world, table, id)) as [Json, Json];
    assert.deepEqual([edit.user, edit.Referer, edit.data], [userPointer(user), page, { Name: 'x' }]);
    assertByTrigger(own, 'update');
    const [{ objectId, createdBy }] = (await world.find(target)) as [Json];
    assert.deepEqual(createdBy, master);
    assert.deepEqual((await rowsOf(world, target, objectId))[0].data, { n: 2, updatedByTrigger: trigger });
    const record = await world.read(table, id);
    assert.deepEqual([record.createdBy, record.updatedBy], [userPointer(user), master]);
  });

  for (const useQueue of [false, true])
    test(`writes of a function that a trigger calls: Referer server-side-code:<functionName> (useQueue ${useQueue})`, async () => {
      const trigger = await world.trigger({ table, events: ['create'], actions: [runsCode('acts', useQueue)] });
      const writes = { [`create ${target}`]: 1, [`update ${target}`]: 1, [`delete ${target}`]: 1 };
      await world.effects(() => world.create(table, { Target: target }), made(table), writes, called(), runs());
      const [create, update, remove] = (await world.find('_Timeline', { objectClass: target })) as [Json, Json, Json];
      for (const row of [create, update]) assertByTrigger(row, row.event, 'server-side-code:acts');
      assert.deepEqual(create.data, { Name: 'made', updatedByTrigger: trigger });
      assert.deepEqual(update.data, { Name: 'changed', updatedByTrigger: trigger });
      // A delete row carries only event, objectClass, objectIdValue, user and timestamps.
      assert.deepEqual(
        [remove.event, remove.user, remove.data, remove.Referer, remove.Last],
        ['delete', master, undefined, undefined, undefined],
      );
    });

  test('functions that a client calls leave no updatedByTrigger', async () => {
    const act = async () => assert.equal((await world.send('writes', { body: { table: target } })).status, 200);
    const writes = { [`create ${target}`]: 1, [`update ${target}`]: 1, [`delete ${target}`]: 1 };
    await world.effects(act, writes);
    const rows = await world.find('_Timeline', { objectClass: target });
    assert.deepEqual(
      rows.map(({ data }) => data),
      [{ Name: 'made' }, { Name: 'changed' }, undefined],
    );
    assert.deepEqual(
      rows.map(({ Referer }) => Referer),
      ['server-side-code:writes', 'server-side-code:writes', undefined],
    );
  });

  test('further down a chain each row has the trigger that wrote it', async () => {
    const first = await world.trigger({ table, events: ['delete'], actions: [creates(target, { n: 1 })] });
    const second = await world.trigger({ table: target, events: ['create'], actions: [updates('self', { n: 2 })] });
    const id = await world.create(table, {});
    await world.effects(() => world.remove(table, id), gone(table), made(target), changed(target), runs(2));
    const rows = await world.find('_Timeline', { objectClass: target });
    assert.deepEqual(
      rows.map(({ data }) => data),
      [
        { n: 1, updatedByTrigger: first },
        { n: 2, updatedByTrigger: second },
      ],
    );
  });

  test('an e-mail action: the rows of Emails in the timeline, of the account that the record has', async () => {
    const account = pointer('Accounts', await world.create('Accounts', { Name: 'a' }));
    const trigger = await world.trigger({ table, events: ['create'], actions: [mails('a@example.com')] });
    const earlier = (await world.find('_Timeline', { objectClass: 'Emails' })).length;
    await world.effects(() => world.create(table, { AccountId: account }), made(table), mailed(), runs());
    const rows = (await world.find('_Timeline', { objectClass: 'Emails' })).slice(earlier);
    for (const row of rows) assert.deepEqual([row.data.updatedByTrigger, row.AccountId, row.user], [trigger, account, master]);
    assert.deepEqual(
      rows.map(({ data }) => data.SendStatus),
      ['queued', 'sent'],
    );
  });
}, 'apart');
