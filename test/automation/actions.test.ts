/** The action types. Reference: triggers.md#actions. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../support/records.ts';
import { signUp, type User, userPointer } from '../support/users.ts';
import {
  called,
  changed,
  creates,
  gone,
  made,
  mailed,
  mails,
  nothing,
  notified,
  notifies,
  runs,
  runsCode,
  said,
  updates,
} from './effects.ts';
import { onEachEngine } from './world.ts';

onEachEngine((world) => {
  let user: User;
  before(async () => {
    user = await signUp(world);
  });

  test('create-object: a record with the fields that are given, of every type', async () => {
    const types = { n: 'Number', is: 'Boolean', at: 'Date', P: 'Pointer:Tags', list: 'Array', o: 'Object', html: 'HTML/XML' };
    const table = await world.place();
    const target = await world.place(types);
    const tag = pointer('Tags', 'tag0000001');
    const fields = {
      ...{ Name: 'fixed', n: -1.5, is: false, at: date('2026-02-03T04:05:06.007Z'), P: tag, list: ['a', 1, tag] },
      ...{ o: { a: [{ b: null }] }, html: '<b>x</b>' },
    };
    await world.trigger({ table, events: ['create'], actions: [creates(target, fields)] });
    await world.effects(() => world.create(table, {}), made(table), made(target), runs());
    const [{ objectId, createdAt, updatedAt, ACL, createdBy, updatedBy, ...rest }] = (await world.find(target)) as [Json];
    assert.match(objectId, /^[A-Za-z0-9]{10}$/);
    assert.deepEqual(
      [createdAt, ACL, createdBy, updatedBy],
      [updatedAt, {}, pointer('_User', 'master'), pointer('_User', 'master')],
    );
    assert.deepEqual(rest, fields);
  });

  test('create-object: a value that does not fit the table is an error row; nothing is made', async () => {
    const table = await world.place();
    const target = await world.place({ n: 'Number' });
    const id = await world.trigger({ table, events: ['create'], actions: [creates(target, { n: '{{Name}}' })] });
    await world.effects(() => world.create(table, { Name: 'text' }), made(table), runs(1, 0, 1));
    const [row] = await world.log({ triggerId: id, actionId: { $exists: true } });
    assert.equal(said(row), `schema mismatch for ${target}.n; expected Number but got String`);
  });

  test('create-object: a table that is not there yet is made, as by any first write with a key', async () => {
    const table = await world.place();
    const target = `Later${table}`;
    await world.trigger({ table, events: ['create'], actions: [creates(target, { Of: '{{objectId}}', At: '{{createdAt}}' })] });
    const id = await world.effects(() => world.create(table, {}), made(table), runs());
    const other = await world.effects(() => world.create(table, {}), made(table), runs());
    const rows = await world.find(target);
    assert.deepEqual(
      rows.map(({ Of }) => Of),
      [id, other],
    );
    assert.deepEqual(rows[0]?.At, date((await world.read(table, id)).createdAt));
    const { Of, At } = await world.fields(target);
    assert.deepEqual([Of?.type, At?.type], ['String', 'Date']);
  });

  test('update-object self: on create and update; operators are as in a PUT', async () => {
    const table = await world.place({ n: 'Number', state: 'String', list: 'Array' });
    const plus = { n: { __op: 'Increment', amount: 2 }, list: { __op: 'AddUnique', objects: ['seen'] }, state: 'new {{Name}}' };
    await world.trigger({ table, events: ['create'], actions: [updates('self', plus)] });
    const id = await world.effects(() => world.create(table, { Name: 'a', n: 5 }), made(table), changed(table), runs());
    const { n, list, state, Name } = await world.read(table, id);
    assert.deepEqual({ n, list, state, Name }, { n: 7, list: ['seen'], state: 'new a', Name: 'a' });
  });

  test('update-object self of a record that is deleted, or gone meanwhile: an error row', async () => {
    const table = await world.place();
    await world.trigger({ table, events: ['delete'], actions: [updates('self', { Name: 'x' })] });
    const id = await world.create(table, {});
    await world.effects(() => world.remove(table, id), gone(table), runs(1, 0, 1));
    const [row] = await world.log({ objectIdValue: id, error: { $exists: true } });
    assert.equal(said(row), 'Object not found.');
  });

  test('update-object by a Pointer, on create, update and delete; an empty or dangling one is an error row', async () => {
    const target = await world.place({ n: 'Number', last: 'String' });
    const table = await world.place({ P: `Pointer:${target}`, n: 'Number' });
    const fields = { n: { __op: 'Increment', amount: 1 }, last: '{{Name}}' };
    const trigger = await world.trigger({ table, events: ['create', 'update', 'delete'], actions: [updates('P', fields)] });
    const to = await world.create(target, {});
    const P = pointer(target, to);
    const id = await world.effects(() => world.create(table, { P, Name: 'a' }), made(table), changed(target), runs());
    await world.effects(() => world.update(table, id, { Name: 'b' }), changed(table), changed(target), runs());
    await world.effects(() => world.remove(table, id), gone(table), changed(target), runs());
    const { n, last } = await world.read(target, to);
    assert.deepEqual({ n, last }, { n: 3, last: 'b' });
    for (const body of [{}, { P: pointer(target, 'nowhere000') }])
      await world.effects(() => world.create(table, body), made(table), runs(1, 0, 1));
    const failed = await world.log({ triggerId: trigger, error: { $exists: true } });
    assert.equal(failed.length, 2);
    for (const row of failed) assert.ok(said(row).length > 0 && typeof said(row) === 'string');
  });

  for (const [how, to] of [
    ['a user’s id', ({ id }) => id],
    ['a Pointer field', () => 'OwnerId'],
    ['a Pointer', (user) => userPointer(user)],
    ['a template of a Pointer', () => '{{OwnerId}}'],
    ['a template two hops away', () => '{{P.OwnerId}}'],
  ] as readonly [string, (user: User) => Json][])
    test(`notification: to ${how}`, async () => {
      const other = await world.place({ OwnerId: 'Pointer:_User' });
      const table = await world.place({ OwnerId: 'Pointer:_User', P: `Pointer:${other}` });
      const P = pointer(other, await world.create(other, { OwnerId: userPointer(user) }));
      const action = { type: 'notification', actionData: { user: to(user), content: 'ליד חדש: {{Name}} <b>', icon: 'star' } };
      const trigger = await world.trigger({ table, events: ['create'], actions: [action] });
      const record = { Name: 'דנה & Co', OwnerId: userPointer(user), P };
      const id = await world.effects(() => world.create(table, record), made(table), notified(), runs());
      const [row] = (await world.find('_Notification', { objectIdValue: id })) as [Json];
      const { User, Content, Icon, objectClass, updatedByTrigger, Date: at } = row;
      const shown = { User, Content, Icon, objectClass, updatedByTrigger };
      const expected = { User: userPointer(user), Content: 'ליד חדש: דנה & Co <b>', Icon: 'star', objectClass: table };
      assert.deepEqual(shown, { ...expected, updatedByTrigger: trigger });
      assert.ok(Math.abs(Date.parse(at.iso) - Date.parse(row.createdAt)) < 5_000);
    });

  test('notification: nobody named is an error row; an id that nobody has is written as it is', async () => {
    const table = await world.place({ OwnerId: 'Pointer:_User', TagId: 'Pointer:Tags' });
    const actions = ['OwnerId', '{{Name}}', '{{OwnerId}}', '{{OwnerId.objectId}}', '{{TagId}}'].map((user) => notifies(user));
    const trigger = await world.trigger({ table, events: ['create'], actions: [...actions, notifies('nobody0000')] });
    await world.effects(() => world.create(table, {}), made(table), notified(), runs(1, 1, 5));
    const errors = await world.log({ triggerId: trigger, error: { $exists: true } });
    assert.deepEqual(new Set(errors.map(said)), new Set(['There is no user to be notified.']));
    const dangling = pointer('_User', 'nobody0000');
    const record = { OwnerId: dangling, Name: 'nobody0000', TagId: pointer('Tags', 'tag0000001') };
    const id = await world.effects(() => world.create(table, record), made(table), notified(5), runs(1, 5, 1));
    for (const { User } of await world.find('_Notification', { objectIdValue: id })) assert.deepEqual(User, dangling);
  });

  test('e-mail: sent, with a row of Emails that says so', async () => {
    const table = await world.place({ Email: 'String', AccountId: 'Pointer:Accounts' });
    const account = pointer('Accounts', await world.create('Accounts', { Name: 'a' }));
    const html = '<p dir="rtl">שלום {{Name}}</p>';
    const action = mails('{{Email}}', { cc: 'boss@example.com', subject: 'שלום {{Name}}', html });
    await world.trigger({ table, events: ['create'], actions: [action] });
    const record = { Name: 'דנה <i>', Email: 'dana@example.com', AccountId: account };
    await world.effects(() => world.create(table, record), made(table), mailed(), runs());
    const mail = world.smtp().received.at(-1);
    assert.deepEqual(mail?.to.toSorted(), ['boss@example.com', 'dana@example.com']);
    assert.equal(mail?.subject, 'שלום דנה <i>');
    assert.match(mail?.html ?? '', /<p dir="rtl">שלום דנה &lt;i&gt;<\/p>/);
    const row = (await world.find('Emails')).at(-1);
    assert.deepEqual(
      [row.MailTo, row.CC, row.Subject, row.SendStatus],
      ['dana@example.com', 'boss@example.com', 'שלום דנה <i>', 'sent'],
    );
    assert.equal(row.MessageId, mail?.headers.get('message-id'));
    assert.ok(row.SendAt.iso >= row.createdAt && row.ErrorMessage === undefined);
    assert.deepEqual(row.AccountId, account);
  });

  test('e-mail: addresses in a list, which reads back as it was sent', async () => {
    const table = await world.place({ Email: 'String' });
    const to = ['{{Email}}', 'b@example.com'];
    const trigger = await world.trigger({ table, events: ['create'], actions: [mails('', { to, cc: ['c@example.com'] })] });
    await world.effects(() => world.create(table, { Email: 'a@example.com' }), made(table), mailed(), runs());
    const expected = ['a@example.com', 'b@example.com', 'c@example.com'];
    assert.deepEqual(world.smtp().received.at(-1)?.to.toSorted(), expected);
    assert.equal((await world.find('Emails')).at(-1)?.MailTo, 'a@example.com, b@example.com');
    assert.deepEqual((await world.read('_Trigger', trigger)).actions[0].actionData.to, to);
  });

  test('e-mail: nobody to send to is an error row, and the row of Emails says failed', async () => {
    const table = await world.place({ Email: 'String' });
    const trigger = await world.trigger({ table, events: ['create'], actions: [mails('{{Email}}')] });
    for (const Email of [undefined, 'no address'])
      await world.effects(() => world.create(table, { Email }), made(table), made('Emails'), runs(1, 0, 1));
    const [one, other] = (await world.find('Emails')).slice(-2);
    assert.deepEqual([one.SendStatus, other.SendStatus], ['failed', 'failed']);
    const rows = await world.log({ triggerId: trigger, error: { $exists: true } });
    assert.deepEqual(rows.map(said), [one.ErrorMessage, other.ErrorMessage]);
  });

  for (const useQueue of [false, true])
    test(`server-side-code (useQueue ${useQueue}): the record, the trigger, an empty input`, async () => {
      const table = await world.place({ n: 'Number', at: 'Date', P: 'Pointer:Tags' });
      const trigger = await world.trigger({
        Name: 'calls',
        table,
        events: ['create', 'delete'],
        actions: [runsCode('notes', useQueue)],
      });
      const record = { Name: 'א', n: 1.5, at: date('2026-01-01T00:00:00.000Z'), P: pointer('Tags', 'tag0000001') };
      const id = await world.effects(() => world.create(table, record), made(table), called(), runs());
      const [{ actions }] = (await world.find('_Trigger', { objectId: trigger })) as [Json];
      const [, ran] = await world.log({ triggerId: trigger });
      const call = world.calls().at(-1);
      const of = { id: trigger, name: 'calls', actionId: actions[0]._id, event: 'create', runId: ran.objectId, attempt: 1 };
      assert.deepEqual([call.input, call.request, call.user], [{}, null, null]);
      assert.deepEqual({ ...call.trigger, runId: of.runId }, of);
      const { className, ...given } = call.record;
      assert.deepEqual(given, await world.read(table, id));
      assert.ok(className === undefined || className === table);
      await world.effects(() => world.remove(table, id), gone(table), called(), runs());
      assert.deepEqual([world.calls().at(-1).trigger.event, world.calls().at(-1).record.Name], ['delete', 'א']);
    });

  test('server-side-code: what it throws is the error row; a form, and a function that is not there, too', async () => {
    const table = await world.place();
    const actions = [runsCode('fails'), runsCode('getlead'), runsCode('nowhere')];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    await world.effects(() => world.create(table, { Name: 'x' }), made(table), called(), runs(1, 0, 3));
    const rows = await world.log({ triggerId: trigger, error: { $exists: true } });
    const expected = ['The shop is closed: "x"', 'User function not found', 'User function not found'];
    assert.deepEqual(rows.map(said), expected);
  });

  test('a trigger without an action that is due leaves its row alone', async () => {
    const table = await world.place();
    await world.trigger({ table, events: ['update'], actions: [] });
    await world.effects(() => world.create(table, {}), made(table), nothing);
  });
});
