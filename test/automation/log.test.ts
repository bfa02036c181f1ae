/** Each run of a trigger writes two rows. Reference: triggers.md#trigger-log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, date, type Json, master, path, pointer } from '../support/records.ts';
import { newName, password, signUp, updateUser } from '../support/users.ts';
import { creates, made, mails, rows, runs, runsCode, said } from './effects.ts';
import { onAnyEngine } from './world.ts';

const common = ['ACL', 'createdAt', 'createdBy', 'objectId', 'updatedAt', 'updatedBy'];
const denied = { code: 119, error: 'Action is denied for system tables' };

onAnyEngine((world) => {
  for (const event of ['create', 'update', 'delete'] as const)
    test(`two rows a run (${event}): as the trigger fired, and as the action ran`, async () => {
      const table = await world.place({
        n: 'Number',
        at: 'Date',
        P: 'Pointer:Tags',
        o: 'Object',
        list: 'Array',
        R: 'Relation:Tags',
        is: 'Boolean',
      });
      const heard = await world.place();
      const trigger = await world.trigger({ table, events: [event], actions: [creates(heard)] });
      const tag = pointer('Tags', 'tag0000001');
      const fields = {
        Name: 'דנה "x"',
        n: 1.5,
        at: date('2026-01-02T03:04:05.006Z'),
        P: tag,
        o: { a: [null] },
        list: [1, tag],
        is: false,
      };
      const R = { __op: 'AddRelation', objects: [tag] };
      const own = event === 'create' ? '' : await world.create(table, { ...fields, R });
      await world.settle();
      const before = event === 'delete' ? await world.read(table, own) : null;
      const since = Date.now();
      const id = event === 'create' ? await world.create(table, { ...fields, R }) : own;
      if (event === 'update') await world.update(table, id, { n: { __op: 'Increment', amount: 1 } });
      if (event === 'delete') assert.equal((await world.remove(table, id)).status, 200);
      await world.settle();
      const record = before ?? (await world.read(table, id));
      const [{ actions }] = (await world.find('_Trigger', { objectId: trigger })) as [Json];
      const [fired, ran, ...more] = await world.log({ objectIdValue: id });
      assert.deepEqual(more, []);
      assert.deepEqual(Object.keys(fired).sort(), [...common, 'data', 'event', 'objectIdValue', 'triggerId'].sort());
      assert.equal(ran.actionId, actions[0]._id);
      for (const row of [fired, ran]) {
        assert.deepEqual([row.triggerId, row.event, row.objectIdValue, row.error], [trigger, event, id, undefined]);
        assert.deepEqual([row.ACL, row.createdBy, row.updatedBy], [{}, master, master]);
        assert.ok(Date.parse(row.createdAt) >= since - 1_000 && Date.parse(row.createdAt) <= Date.now() + 1_000);
        for (const name of ['objectId', 'triggerId']) assert.match(row[name], /^[A-Za-z0-9]{10}$/);
        assert.equal(typeof row.data, 'string');
        assert.deepEqual(JSON.parse(row.data), record);
      }
      assert.match(ran.actionId, /^[A-Za-z0-9]{10}$/);
    });

  test('_id of Get-Triggers, updatedByTrigger of _Timeline.data and triggerId are one id', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates(heard)] });
    await world.effects(() => world.create(table, {}), made(table), made(heard), runs());
    const { body } = await world.call('GET', `/platform/schemas/${table}`);
    const [{ data }] = (await world.find('_Timeline', { objectClass: heard })) as [Json];
    const [{ triggerId }] = (await world.log({ triggerId: trigger })) as [Json];
    assert.deepEqual([body.triggers[0]._id, data.updatedByTrigger, triggerId], [trigger, trigger, trigger]);
  });

  test('the data is the record as it was when it fired, not as it is when the trigger runs', async () => {
    const table = await world.place({ n: 'Number' });
    const trigger = await world.trigger({ table, events: ['create', 'update', 'delete'], actions: [runsCode('hold')] });
    world.hold();
    const id = await world.create(table, { n: 1 });
    for (const n of [2, 3]) await world.update(table, id, { n });
    await world.remove(table, id);
    world.release();
    await world.settle();
    const log = await world.log({ triggerId: trigger });
    const seen = log.map(({ event, actionId, data }) => [event, actionId === undefined, JSON.parse(data).n]);
    const expected = [
      ['create', 1],
      ['update', 2],
      ['update', 3],
      ['delete', 3],
    ];
    assert.deepEqual(
      seen,
      expected.flatMap(([event, n]) => [
        [event, true, n],
        [event, false, n],
      ]),
    );
  });

  test('data longer than 100,000 characters: values are left out, the longest first', async () => {
    const table = await world.place({ long: 'String', longer: 'String', o: 'Object' });
    const trigger = await world.trigger({ table, events: ['create'], actions: [] });
    const body = { Name: 'kept', long: 'א'.repeat(45_000), longer: 'x'.repeat(70_000), o: { list: ['x'.repeat(50_000)] } };
    const id = await world.effects(() => world.create(table, body), made(table), runs(1, 0));
    const [{ data }] = (await world.log({ triggerId: trigger })) as [Json];
    assert.ok(data.length <= 100_000);
    const { longer, ...rest } = await world.read(table, id);
    assert.equal(longer, body.longer);
    assert.deepEqual(JSON.parse(data), rest);
  });

  test('no secret of a user is in the log, in a mail or with a function', async () => {
    const heard = await world.place();
    const html = '<p>{{password}}{{{password}}}{{sessionToken}}{{user.password}}{{_hashed_password}}{{_username_key}}</p>';
    const actions = [runsCode('notes'), mails('a@example.com', { html }), creates(heard, { Name: '{{password}}' })];
    const trigger = await world.trigger({ table: '_User', events: ['create', 'update', 'delete'], actions });
    await world.trigger({ table: '_Session', events: ['create', 'delete'], actions });
    const since = [world.calls().length, world.smtp().received.length, (await world.log()).length];
    const user = await signUp(world, { email: `${newName()}@example.com` });
    assert.equal((await updateUser(world, user.id, { password: 'Another1Pass' })).status, 200);
    const session = await world.call('POST', '/platform/sessions', { body: { user: pointer('_User', user.id) } });
    await world.call('DELETE', `/platform/users/${user.id}`);
    await world.settle();
    const log = (await world.log()).slice(since[2]);
    const fired = log.filter(({ triggerId, actionId }) => triggerId === trigger && actionId === undefined);
    assert.deepEqual(
      fired.map(({ event }) => event),
      ['create', 'update', 'delete'],
    );
    for (const { data } of log)
      for (const name of Object.keys(JSON.parse(data)))
        assert.doesNotMatch(name, /password|sessionToken|^_(?!failed_login_count$)/);
    const sent = world.smtp().received.slice(since[1]);
    assert.equal(sent.length, 4);
    for (const mail of sent) assert.match(mail.html, /^<p>(\{\{_hashed_password\}\}\{\{_username_key\}\})?<\/p>\s*$/);
    const seen = JSON.stringify([log, world.calls().slice(since[0]), sent, await world.find(heard), await world.find('Emails')]);
    for (const secret of [password, 'Another1Pass', user.token, session.body.sessionToken, '$argon2'])
      assert.ok(!seen.includes(secret), secret);
    for (const { Name } of await world.find(heard)) assert.equal(Name, undefined);
  });

  test('the table accepts POST and PUT with a master key but rejects DELETE', async () => {
    const row = { triggerId: 'trigger001', event: 'create', error: '"by hand"' };
    const id = await world.effects(() => world.create('_syslogTriggers', row), { failed: 1 });
    assert.equal((await world.effects(() => world.put('_syslogTriggers', id, { error: '"changed"' }), {})).status, 200);
    const table = await world.place();
    await world.trigger({ table, events: ['create'], actions: [] });
    await world.effects(() => world.create(table, {}), made(table), runs(1, 0));
    const [own] = (await world.log({ event: 'create', error: { $exists: false } })).slice(-1) as [Json];
    for (const objectId of [id, own.objectId, 'nowhere000'])
      for (const as of ['master', 'apiKey'] as const) {
        const answer = await world.effects(() => world.remove('_syslogTriggers', objectId, { as }), {});
        assertRefused(answer, denied);
        assert.deepEqual(answer.body, denied);
      }
    const requests = [{ method: 'DELETE', path: path('_syslogTriggers', id) }];
    const { body } = await world.call('POST', '/platform/batch', { body: { requests } });
    assert.deepEqual(body, [{ error: denied }]);
    const over = await world.call('POST', path('_syslogTriggers', id), { body: { _method: 'DELETE' } });
    assert.deepEqual(over.body, denied);
    const schema = await world.call('DELETE', '/platform/schemas/_syslogTriggers');
    assertRefused(schema, denied);
    assert.equal(said((await world.find('_syslogTriggers', { objectId: id }))[0]), 'changed');
  });

  test('the log keeps neither a record from being deleted nor a trigger', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates(heard)] });
    const id = await world.effects(() => world.create(table, {}), made(table), made(heard), runs());
    assert.equal((await world.remove(table, id)).status, 200);
    assert.equal((await world.effects(() => world.remove('_Trigger', trigger), rows('_Trigger', -1))).status, 200);
    assert.equal((await world.log({ triggerId: trigger })).length, 2);
  });
});
