/** Who reads and deletes the notifications of a user. Reference: system-tables.md#_notification. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, pointer } from '../support/records.ts';
import { denied, newRole, notFound, setRole, signUp, type User, userPointer } from '../support/users.ts';
import { made, notified, notifies, runs } from './effects.ts';
import { onAnyEngine } from './world.ts';

const table = '_Notification';

onAnyEngine((world) => {
  /** A mark of the operator's own. */
  before(() => world.addFields(table, { IsRead: 'Boolean' }));

  /** Two users of a role, each with a notification that a trigger left. */
  const addressees = async (): Promise<(User & { own: string })[]> => {
    const users = [await signUp(world), await signUp(world)];
    await newRole(world, users);
    const place = await world.place();
    const actions = users.map(({ id }) => notifies(id, `for ${id}`));
    await world.trigger({ table: place, events: ['create'], actions });
    await world.effects(() => world.create(place, {}), made(place), notified(2), runs(1, 2));
    return Promise.all(
      users.map(async (user) => {
        const [row] = await world.find(table, { User: userPointer(user) });
        return { ...user, own: row?.objectId };
      }),
    );
  };

  test('each user sees, changes and deletes their own, and no other', async () => {
    const [one, other] = (await addressees()) as [User & { own: string }, User & { own: string }];
    const session = one.token;
    const seen = async (options: object = {}) =>
      (await world.call('GET', `/platform/classes/${table}`, { session, ...options })).body;
    assert.deepEqual(
      (await seen()).results.map(({ objectId, Content }: { objectId: string; Content: string }) => [objectId, Content]),
      [[one.own, `for ${one.id}`]],
    );
    assert.equal((await seen({ query: { count: 1, limit: 0 } })).count, 1);
    assert.equal((await world.get(table, one.own, { session })).status, 200);
    for (const answer of [
      await world.get(table, other.own, { session }),
      await world.put(table, other.own, { Content: 'x' }, { session }),
      await world.call('DELETE', `/platform/classes/${table}/${other.own}`, { session }),
    ])
      assertRefused(answer, notFound);
    assert.equal((await world.put(table, one.own, { IsRead: true }, { session })).status, 200);
    assertRefused(await world.put(table, one.own, { Brandnew: true }, { session }), denied('addField', table));
    assertRefused(await world.post(table, { User: userPointer(one), Content: 'x' }, { session }), denied('create', table));
    assert.equal((await world.call('DELETE', `/platform/classes/${table}/${one.own}`, { session })).status, 200);
    assert.deepEqual((await seen()).results, []);
    assert.equal((await world.read(table, other.own)).Content, `for ${other.id}`);
    assertRefused(await world.call('GET', `/platform/classes/${table}`, { as: 'anonymous' }), denied('find', table));
  });

  test('a role opens no box but one’s own; Admin sees all', async () => {
    const [one, other] = (await addressees()) as [User & { own: string }, User & { own: string }];
    const { results } = (await world.call('GET', '/platform/roles', { query: { where: { name: { $in: ['Admin', 'Sales'] } } } }))
      .body;
    const join = async (name: string, { id }: User) => {
      const { objectId } = results.find((role: { name: string }) => role.name === name);
      const body = { users: { __op: 'AddRelation', objects: [pointer('_User', id)] } };
      assert.equal((await world.call('PUT', `/platform/roles/${objectId}`, { body })).status, 200);
    };
    await join('Sales', one);
    await join('Admin', other);
    assertRefused(await world.get(table, other.own, { session: one.token }), notFound);
    assert.equal((await world.get(table, one.own, { session: other.token })).status, 200);
    assert.equal((await world.call('DELETE', `/platform/classes/${table}/${one.own}`, { session: other.token })).status, 200);
  });

  test('nobody hands on what the master said: its words are changed by keys, and by the user who made it', async () => {
    const [one, other] = (await addressees()) as [User & { own: string }, User & { own: string }];
    const admin = await signUp(world);
    await setRole(world, admin.id, 'Admin');
    const forged = {
      User: userPointer(other),
      Content: 'Your password expires',
      Icon: 'javascript:alert(1)',
      objectClass: 'Accounts',
      objectIdValue: 'x',
      updatedByTrigger: 'x',
      Date: { __type: 'Date', iso: '2020-01-01T00:00:00.000Z' },
    };
    const first = await world.read(table, one.own);
    for (const session of [one.token, admin.token])
      for (const [name, value] of Object.entries(forged)) {
        const refusal = { code: 119, error: `This user is not allowed to access ${name} on class ${table}` };
        for (const sent of [value, { __op: 'Delete' }])
          assertRefused(await world.put(table, one.own, { IsRead: true, [name]: sent }, { session }), refusal);
      }
    assert.deepEqual(await world.read(table, one.own), first);
    // A client that sends back what it was shown changes the mark.
    for (const session of [one.token, admin.token]) {
      const shown = (await world.get(table, one.own, { session })).body;
      assert.equal((await world.put(table, one.own, { ...shown, IsRead: true }, { session })).status, 200);
    }
    assert.equal((await world.read(table, one.own)).IsRead, true);
    // An administrator may change the text of its own notification.
    const said = await world.create(table, { User: userPointer(one), Content: 'x' }, { session: admin.token });
    assert.equal((await world.put(table, said, forged, { session: admin.token })).status, 200);
    const { createdBy, Content } = await world.read(table, said);
    assert.deepEqual([createdBy, Content], [userPointer(admin), forged.Content]);
    assertRefused(await world.put(table, said, { User: userPointer(one) }, { session: other.token }), {
      code: 119,
      error: `This user is not allowed to access User on class ${table}`,
    });
    assert.equal((await world.put(table, one.own, forged)).status, 200);
  });

  test('without a role all queries return 119, here too', async () => {
    const { id, token: session } = await signUp(world);
    const row = await world.create(table, { User: userPointer({ id }), Content: 'x' });
    assertRefused(await world.call('GET', `/platform/classes/${table}`, { session }), denied('find', table));
    assertRefused(await world.call('DELETE', `/platform/classes/${table}/${row}`, { session }), denied('delete', table));
  });

  test('a user who was notified is pointed at until the notifications are gone', async () => {
    const [one] = (await addressees()) as [User & { own: string }];
    assertRefused(await world.call('DELETE', `/platform/users/${one.id}`), {
      code: 119,
      error: `Pointer to Object ${one.id} exists in table ${table} in key User. Delete is not allowed.`,
    });
    await world.remove(table, one.own);
    assert.equal((await world.call('DELETE', `/platform/users/${one.id}`)).status, 200);
  });
}, 'apart');
