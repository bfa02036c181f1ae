/**
 * docs/adr/0015: a trigger that was defined with a session acts with the rights that its author has when it runs, at any depth, whatever the
 * table; one that was defined with a key acts as the master.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type Json, path, pointer } from '../support/records.ts';
import { changeUser, denied, login, newSession, password, setRole, signUp, type User, userPointer } from '../support/users.ts';
import {
  type Counts,
  called,
  changed,
  creates,
  gone,
  made,
  mails,
  nothing,
  notified,
  notifies,
  plus,
  runs,
  runsCode,
  said,
  updates,
} from './effects.ts';
import { onAnyEngine } from './world.ts';

const gones = 'The user who defined the trigger is gone or not active.';
const unread = 'The user who defined the trigger may not read the record.';
const hiddenFrom = (role: string, fields: string[]) => ({ protectedFields: { [`role:${role}`]: fields } });

onAnyEngine((world) => {
  let admin: User;
  const newAdmin = async () => {
    const user = await signUp(world);
    await setRole(world, user.id, 'Admin');
    return user;
  };
  before(async () => {
    admin = await newAdmin();
  });
  /** Defines a trigger with a session. */
  const defines = async (body: Json, { token }: User = admin): Promise<string> => {
    const answer = await world.post('_Trigger', { Name: 'of a test', ...body }, { session: token });
    assert.equal(answer.status, 201, answer.text);
    return world.adopt(answer.body.objectId);
  };
  const permit = async (table: string, classLevelPermissions: object) => {
    const current = (await world.call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions;
    const body = { classLevelPermissions: { ...current, ...classLevelPermissions } };
    const answer = await world.call('PUT', `/platform/schemas/${table}`, { body });
    assert.equal(answer.status, 200, answer.text);
  };
  const errors = async (triggerId: string): Promise<string[]> =>
    (await world.log({ triggerId, error: { $exists: true } })).map(said);

  test('it writes what its author may write, for the audit as the master', async () => {
    const [table, target] = [await world.place(), await world.place()];
    await defines({
      table,
      events: ['create'],
      actions: [creates(target, { Name: '{{Name}}' }), updates('self', { Name: 'seen' })],
    });
    const id = await world.effects(
      () => world.create(table, { Name: 'a' }),
      made(table),
      made(target),
      changed(table),
      runs(1, 2),
    );
    const [row] = await world.find(target);
    assert.deepEqual(
      [row?.Name, row?.createdBy, (await world.read(table, id)).updatedBy],
      ['a', pointer('_User', 'master'), pointer('_User', 'master')],
    );
    const [line] = await world.find('_Timeline', { objectIdValue: row?.objectId });
    assert.deepEqual(line?.user, pointer('_User', 'master'));
  });

  test('rights that were withdrawn since count: tables, fields, records, columns to be', async () => {
    const [table, target] = [await world.place(), await world.place({ Secret: 'String' })];
    await world.addFields(table, { Other: `Pointer:${target}` });
    const actions = [creates(target, { Secret: 'x' }), creates(target, { Brandnew: 'x' }), updates('Other', { Name: 'x' })];
    const id = await defines({ table, events: ['create'], actions });
    await permit(target, { addField: {}, ...hiddenFrom('Admin', ['Secret']) });
    const closed = await world.create(target, { Name: 'closed', ACL: { nobody: { read: true } } });
    await world.effects(() => world.create(table, { Other: pointer(target, closed) }), made(table), runs(1, 0, 3));
    assert.deepEqual(await errors(id), [
      `This user is not allowed to access Secret on class ${target}`,
      denied('addField', target).error,
      'Object not found.',
    ]);
    await permit(target, { create: {}, update: {} });
    await world.effects(() => world.create(table, { Other: pointer(target, closed) }), made(table), runs(1, 0, 3));
    assert.equal((await world.read(target, closed)).Name, 'closed');
  });

  test('a Pointer that leads elsewhere by now reaches no user, session or definition', async () => {
    const victim = await signUp(world);
    const session = await newSession(world, victim);
    const table = await world.place({ Link: 'Pointer:Tags' });
    const fields = { password: 'Hacked-2026', user: userPointer(admin), actions: [], Name: 'hacked' };
    const ids: string[] = [];
    for (const [name, value] of Object.entries(fields))
      ids.push(await defines({ table, events: ['create'], actions: [updates('Link', { [name]: value })] }));
    const [row] = (await world.call('GET', '/platform/sessions', { query: { where: { user: userPointer(victim) } } })).body
      .results;
    const targets = { _User: victim.id, _Session: row.objectId, _Trigger: ids[0] as string };
    for (const [className, objectId] of Object.entries(targets)) {
      for (const Link of [{ __op: 'Delete' }, { type: 'Pointer', targetClass: className }])
        assert.equal((await world.call('PUT', `/platform/schemas/${table}`, { body: { fields: { Link } } })).status, 200);
      await world.create(table, { Link: pointer(className, objectId) });
      await world.settle();
    }
    assert.equal((await login(world, { username: victim.username, password })).status, 200);
    assert.equal((await world.call('GET', '/platform/users/me', { session })).body.objectId, victim.id);
    for (const id of ids) assert.equal((await errors(id)).length >= 2, true);
    assert.notEqual((await world.read('_Session', row.objectId)).user.objectId, admin.id);
  });

  test('records that the author may not read, as they were, do nothing and reveal nothing', async () => {
    const table = await world.place({ Pay: 'Number' });
    const say = (event: string) => ({
      table,
      events: [event],
      criteria: { Pay: { $gt: 5 } },
      actions: [notifies(admin.id, '{{Name}}'), creates(table, { Name: '{{Name}}' }), mails('a@example.com'), runsCode('notes')],
    });
    const ids = [await defines(say('create')), await defines(say('delete'))];
    const ACL = { [`role:${'Owners'}`]: { read: true } };
    // Whether the criteria hold is not told either: the row says the same for both.
    let deleted = '';
    for (const Pay of [1, 9])
      deleted = await world.effects(() => world.create(table, { Name: 'Boss', Pay, ACL }), made(table), runs(0, 0, 1));
    await world.effects(() => world.remove(table, deleted), gone(table), runs(0, 0, 1));
    assert.deepEqual([await errors(ids[0] as string), await errors(ids[1] as string)], [[unread, unread], [unread]]);
  });

  test('fields that were hidden since are absent in templates and from functions, and have no say in criteria', async () => {
    const table = await world.place({ Pay: 'Number', Other: 'String' });
    const doubted = await defines({ table, events: ['create'], criteria: { Pay: { $gt: 5 } }, actions: [] });
    const watched = await defines({ table, events: ['update'], changedFields: ['Pay'], actions: [] });
    await defines({
      table,
      events: ['create'],
      actions: [updates('self', { Other: 'pay {{Pay}}' }), runsCode('notes'), runsCode('notes', true)],
    });
    await permit(table, hiddenFrom('Admin', ['Pay']));
    const calls = world.calls().length;
    const id = await world.effects(
      () => world.create(table, { Pay: 9 }),
      made(table),
      plus(changed(table), called(2)),
      runs(1, 3, 2),
    );
    const error = `This user is not allowed to access Pay on class ${table}`;
    assert.deepEqual([await errors(doubted), await errors(watched)], [[error], [error]]);
    assert.equal((await world.read(table, id)).Other, 'pay ');
    for (const { record } of world.calls().slice(calls)) assert.deepEqual([record.objectId, record.Pay], [id, undefined]);
  });

  test('templates follow Pointers to what the author may read', async () => {
    const [table, target] = [await world.place({ Seen: 'String' }), await world.place({ Pay: 'Number' })];
    await world.addFields(table, { Other: `Pointer:${target}` });
    await defines({ table, events: ['create'], actions: [updates('self', { Seen: '{{Other.Name}} {{Other.Pay}}' })] });
    await permit(target, hiddenFrom('Admin', ['Pay']));
    const open = await world.create(target, { Name: 'open', Pay: 9 });
    const closed = await world.create(target, { Name: 'closed', ACL: { nobody: { read: true } } });
    const seen: string[] = [];
    for (const other of [open, closed]) {
      const act = () => world.create(table, { Other: pointer(target, other) });
      seen.push((await world.read(table, await world.effects(act, made(table), changed(table), runs()))).Seen);
    }
    assert.deepEqual(seen, ['open ', ' ']);
  });

  test('nothing is done for an author who is not active, has lost the role, or is gone; a key that writes the actions takes over', async () => {
    const author = await newAdmin();
    const [table, target] = [await world.place(), await world.place()];
    const actions = [creates(target)];
    const id = await defines({ table, events: ['create'], actions }, author);
    await permit(target, { create: { 'role:Admin': true } });
    const fire = (...expected: Counts[]) => world.effects(() => world.create(table, {}), made(table), ...expected);
    await fire(made(target), runs());
    await setRole(world, author.id, 'Admin', false);
    await fire(runs(1, 0, 1));
    await setRole(world, author.id, 'Admin');
    await fire(made(target), runs());
    await changeUser(world, author, { active: false });
    await fire(runs(0, 0, 1));
    // A key that changes another field leaves the author as it was.
    await world.update('_Trigger', id, { Name: 'by a key', criteria: {}, Active: true });
    await fire(runs(0, 0, 1));
    assert.equal((await world.call('DELETE', `/platform/users/${author.id}`)).status, 400, 'what he made points at him');
    assert.deepEqual(await errors(id), [denied('create', target).error, gones, gones]);
    await world.update('_Trigger', id, { actions });
    await fire(made(target), runs());
  });

  test('a session that changes what a definition does makes it the user’s; its name, and switching off, do not', async () => {
    const author = await newAdmin();
    const [table, target] = [await world.place(), await world.place()];
    const id = await world.trigger({ table, events: ['create'], actions: [creates(target)] });
    const as = { session: author.token };
    const put = async (body: object) => assert.equal((await world.put('_Trigger', id, body, as)).status, 200);
    await put({ Name: 'renamed' });
    await put({ Active: false });
    await world.update('_Trigger', id, { Active: true });
    // What is sent back as it is changes nothing.
    const { actions } = await world.read('_Trigger', id);
    await put({ actions, events: ['create'] });
    await permit(target, { create: {} });
    await world.effects(() => world.create(table, {}), made(table), made(target), runs());
    assertRefused(await world.put('_Trigger', id, { criteria: { Name: 'x' } }, as), denied('create', target));
    await permit(target, { create: { 'role:Admin': true } });
    await put({ criteria: { Name: 'x' } });
    await permit(target, { create: {} });
    await world.effects(() => world.create(table, { Name: 'x' }), made(table), runs(1, 0, 1));
  });

  test('each definition of a chain acts for itself', async () => {
    const [first, second, third] = [await world.place(), await world.place(), await world.place()];
    await defines({ table: first, events: ['create'], actions: [creates(second, { Name: 'a' })] });
    await world.trigger({
      table: second,
      events: ['create'],
      criteria: { Name: 'a' },
      actions: [creates(third), creates(second, { Name: 'b' })],
    });
    const his = await defines({ table: second, events: ['create'], criteria: { Name: 'b' }, actions: [creates(third)] });
    await permit(third, { create: {} });
    await world.effects(() => world.create(first, {}), made(first), made(second, 2), made(third), runs(3, 3, 1));
    assert.deepEqual(await errors(his), [denied('create', third).error]);
  });

  test('a schedule runs for the records that its author may read', async () => {
    const table = await world.place();
    const open = await world.create(table, { Name: 'open' });
    await world.create(table, { Name: 'closed', ACL: { nobody: { read: true } } });
    const definition = { table, events: ['schedule'], schedule: { cron: '* * * * * *' }, actions: [runsCode('notes')] };
    const calls = world.calls().length;
    const id = await defines(definition);
    const deadline = Date.now() + 20_000;
    while (world.calls().length === calls && Date.now() < deadline) await new Promise((done) => setTimeout(done, 20));
    await world.update('_Trigger', id, { Active: false });
    await world.settle();
    assert.deepEqual(
      [
        ...new Set(
          world
            .calls()
            .slice(calls)
            .map(({ record }) => record.objectId),
        ),
      ],
      [open],
    );
    assert.deepEqual(await errors(id), []);
  });

  test('mail and notifications are for those who may make their rows', async () => {
    const table = await world.place();
    const ids = [
      await defines({ table, events: ['create'], actions: [notifies(admin.id, 'x')] }),
      await defines({ table, events: ['create'], actions: [mails('a@example.com')] }),
    ];
    const before = await Promise.all(
      ['_Notification', 'Emails'].map(
        async (name) => (await world.call('GET', `/platform/schemas/${name}`)).body.classLevelPermissions.create,
      ),
    );
    for (const name of ['_Notification', 'Emails']) await permit(name, { create: {} });
    await world.effects(() => world.create(table, {}), made(table), runs(2, 0, 2));
    assert.deepEqual(
      [await errors(ids[0] as string), await errors(ids[1] as string)],
      [[denied('create', '_Notification').error], [denied('create', 'Emails').error]],
    );
    for (const [name, actions] of [
      ['_Notification', [notifies(admin.id)]],
      ['Emails', [mails('a@example.com')]],
    ] as const)
      assertRefused(
        await world.post('_Trigger', { table, events: ['create'], actions }, { session: admin.token }),
        denied('create', name),
      );
    for (const [at, name] of ['_Notification', 'Emails'].entries()) await permit(name, { create: before[at] });
    await world.effects(
      () => world.create(table, {}),
      made(table),
      notified(),
      { mails: 1, ...made('Emails'), ...changed('Emails') },
      runs(2),
    );
  });

  test('the author is nobody’s to see or write', async () => {
    const table = await world.place();
    const id = await defines({ table, events: ['create'], actions: [] });
    const refusal = { code: 119, error: 'This user is not allowed to access _author on class _Trigger' };
    for (const as of [{}, { as: 'apiKey' }, { session: admin.token }] as const) {
      assertRefused(await world.put('_Trigger', id, { _author: 'master' }, as), refusal);
      assertRefused(await world.post('_Trigger', { table, events: ['create'], actions: [], _author: 'x' }, as), refusal);
      assert.ok(!('_author' in (await world.get('_Trigger', id, as)).body));
      const asked = await world.call('GET', path('_Trigger'), { ...as, query: { where: { _author: { $exists: true } } } });
      assertRefused(asked, { ...refusal, status: asked.status });
    }
    await world.effects(async () => {}, nothing);
  });
});
