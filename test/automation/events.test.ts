/** Every record write (POST, PUT, DELETE, batch items, function writes) fires the data-change triggers of its table. Reference: triggers.md#events. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { newPhone, on } from '../functions/forms.ts';
import { type Json, path, pointer } from '../support/records.ts';
import type { CallOptions } from '../support/service.ts';
import { signUp } from '../support/users.ts';
import { succeed } from '../systems/cli.ts';
import { type Counts, changed, creates, difference, gone, made, nothing, plus, runs } from './effects.ts';
import { onEachEngine, type World } from './world.ts';

/** How a way of writing is called, what it does to a table with one record, and how many of each kind of write it is. */
type Way = [what: string, does: (world: World, table: string, id: string) => Promise<unknown>, writes: Partial<Writes>];
type Writes = Record<'create' | 'update' | 'delete', number>;

const batch = (world: World, requests: readonly Json[], more: object = {}) =>
  world.call('POST', '/platform/batch', { body: { requests, ...more } });
const item = (method: string, table: string, id?: string, body?: Json) => ({ method, path: path(table, id), body });
const called = async (world: World, input: Json) => assert.equal((await world.send('writes', { body: input })).status, 200);
/** A POST that stands for another method. */
const over = (world: World, table: string, id: string, _method: string, body: object = {}) =>
  world.call('POST', path(table, id), { body: { ...body, _method } });

const ways: readonly Way[] = [
  ['POST, master key', (w, t) => w.create(t, { Name: 'a' }), { create: 1 }],
  ['POST, API key', (w, t) => w.create(t, { Name: 'a' }, { as: 'apiKey' }), { create: 1 }],
  ['POST with an objectId of the caller', (w, t) => w.create(t, { objectId: 'own id of any length' }), { create: 1 }],
  ['POST without a field', (w, t) => w.create(t, {}), { create: 1 }],
  ['POST that adds a field', (w, t) => w.create(t, { Name: 'a', Other: 5 }), { create: 1 }],
  ['PUT', (w, t, id) => w.update(t, id, { Name: 'b' }), { update: 1 }],
  ['PUT, API key', (w, t, id) => w.put(t, id, { Name: 'b' }, { as: 'apiKey' }), { update: 1 }],
  ['PUT of the value that is there', (w, t, id) => w.update(t, id, { Name: 'first' }), { update: 1 }],
  ['PUT of no field', (w, t, id) => w.update(t, id, {}), { update: 1 }],
  ['PUT of an operator', (w, t, id) => w.update(t, id, { n: { __op: 'Increment', amount: 1 } }), { update: 1 }],
  ['DELETE', (w, t, id) => w.remove(t, id), { delete: 1 }],
  ['DELETE, API key', (w, t, id) => w.remove(t, id, { as: 'apiKey' }), { delete: 1 }],
  ['_method PUT', (w, t, id) => over(w, t, id, 'PUT', { Name: 'b' }), { update: 1 }],
  ['_method DELETE', (w, t, id) => over(w, t, id, 'DELETE'), { delete: 1 }],
  [
    'batch, each item',
    (w, t) =>
      batch(
        w,
        Array.from({ length: 30 }, () => item('POST', t, undefined, { Name: 'a' })),
      ),
    { create: 30 },
  ],
  [
    'batch, items of all methods, some of which fail',
    (w, t, id) =>
      batch(w, [
        item('POST', t, undefined, { Name: 'a' }),
        item('PUT', t, id, { Name: 'b' }),
        item('PUT', t, id, { n: 'text' }),
        item('POST', t, undefined, { objectId: id }),
        item('PUT', t, 'nowhere', { Name: 'b' }),
        item('POST', t),
        item('DELETE', t, 'nowhere'),
        item('DELETE', t, id),
        item('DELETE', t, id),
      ]),
    { create: 1, update: 1, delete: 1 },
  ],
  ['a function of the operator', (w, t) => called(w, { table: t }), { create: 1, update: 1, delete: 1 }],
  [
    'a function that makes several records at once',
    (w, t) => called(w, { table: t, all: [{}, { Name: 'b' }, {}] }),
    { create: 3 },
  ],
  ['web2table', (w, t) => w.send('web2table', { body: { table: t, phone: newPhone(), table_Name: 'a' } }), { create: 1 }],
  ['reads', (w, t, id) => Promise.all([w.get(t, id), w.find(t, { Name: 'first' }), over(w, t, id, 'GET')]), {}],
  ['POST of a wrong type', (w, t) => w.post(t, { n: 'text' }), {}],
  ['POST of an id that is there', (w, t, id) => w.post(t, { objectId: id }), {}],
  ['PUT of a record that is not there', (w, t) => w.put(t, 'nowhere', { Name: 'a' }), {}],
  ['PUT of an operator that cannot be', (w, t, id) => w.put(t, id, { Name: { __op: 'Increment', amount: 1 } }), {}],
  ['DELETE of a record that is not there', (w, t) => w.remove(t, 'nowhere'), {}],
  ['POST by nobody', (w, t) => w.post(t, { Name: 'a' }, { as: 'anonymous' }), {}],
  ['a request that is no batch', (w, t) => batch(w, [item('POST', t, undefined, {}), item('PATCH', t, undefined, {})]), {}],
];

onEachEngine((world) => {
  let table: string;
  let heard: string;
  let id: string;

  beforeEach(async () => {
    table = await world.place({ n: 'Number' });
    heard = await world.place({ Event: 'String', Of: 'String' });
    id = await world.create(table, { Name: 'first' });
  });

  /** One trigger for each event, that tells which. */
  const listen = async (to: string) => {
    for (const event of ['create', 'update', 'delete'])
      await world.trigger({ table: to, events: [event], actions: [creates(heard, { Event: event, Of: '{{objectId}}' })] });
  };
  /** The writes themselves, and what triggers make of them. */
  const expected = (of: string, { create = 0, update = 0, delete: deleted = 0 }: Partial<Writes>): Counts => {
    const n = create + update + deleted;
    return plus(made(of, create), changed(of, update), gone(of, deleted), made(heard, n), runs(n));
  };
  const eventsHeard = async (): Promise<Counts> => plus(...(await world.find(heard)).map(({ Event }) => ({ [Event]: 1 })));

  test('Events 2: each way of writing fires the triggers of what it writes, and nothing else does', async () => {
    await open('AcceptWebToTable');
    await listen(table);
    for (const [what, does, writes] of ways) {
      const own = await world.create(table, { Name: 'first', dontRunPlatformTriggers: true });
      const before = await eventsHeard();
      // web2table makes its contact too.
      const more = what === 'web2table' ? made('Accounts') : nothing;
      await world
        .effects(() => does(world, table, own), expected(table, writes), more)
        .catch((error) => {
          error.message = `${what}: ${error.message}`;
          throw error;
        });
      assert.deepEqual(difference(await eventsHeard(), before), writes, what);
    }
  });

  test('Events 2: one trigger of all events runs for each; an objectId identifies the record', async () => {
    const actions = [creates(heard, { Of: '{{objectId}}' })];
    await world.trigger({ table, events: ['create', 'update', 'delete'], actions });
    const [first, second] = await world.effects(
      async () => {
        const one = await world.create(table, {});
        await world.update(table, id, { Name: 'b' });
        await world.remove(table, one);
        return [one, id];
      },
      { [`create ${table}`]: 1, [`update ${table}`]: 1, [`delete ${table}`]: 1 },
      made(heard, 3),
      runs(3),
    );
    const found = await world.find(heard);
    assert.deepEqual(found.map(({ Of }) => Of).sort(), [first, first, second].sort());
  });

  test('Events 2: session users fire them as keys do, with a Referer or without', async () => {
    const { token: session } = await signUp(world);
    const options: CallOptions[] = [{ session }, { session, headers: { Referer: 'https://crm.example/accounts' } }];
    await listen(table);
    const act = async () => {
      for (const option of options) {
        const own = await world.create(table, { Name: 'a' }, option);
        assert.equal((await world.put(table, own, { Name: 'b', n: 1 }, option)).status, 200);
        assert.equal((await world.remove(table, own, option)).status, 200);
      }
    };
    await world.effects(act, expected(table, { create: 2, update: 2, delete: 2 }));
    assert.deepEqual(await eventsHeard(), { create: 2, update: 2, delete: 2 });
  });

  const open = async (flag: string) => {
    if ((await world.find('Config', { Name: flag })).length === 0) await world.create('Config', { Name: flag, Value: on(flag) });
  };

  test('Events 2: getlead fires the triggers of Accounts', async () => {
    await listen('Accounts');
    const act = async () => assert.equal((await world.send('getlead', { body: { PhoneNumber: newPhone() } })).status, 200);
    await world.effects(act, expected('Accounts', { create: 1 }));
    assert.deepEqual(await eventsHeard(), { create: 1 });
  });

  test('Events 2: web2table fires those of the target, and of Accounts where it makes a contact', async () => {
    await open('AcceptWebToTable');
    const target = await world.place({ AccountId: 'Pointer:Accounts' });
    await listen('Accounts');
    await listen(target);
    const phone = newPhone();
    const act = async () => assert.equal((await world.send('web2table', { body: { table: target, phone } })).status, 200);
    await world.effects(act, expected('Accounts', { create: 1 }), expected(target, { create: 1 }));
    await world.effects(act, expected(target, { create: 1 }));
    const refused = () => world.send('web2table', { body: { table: target, phone, table_AccountId: 5 } });
    await world.effects(refused, nothing);
  });

  test('Events 2: records that were imported fire them', async () => {
    await listen(table);
    const file = join(world.service().dataDir, 'import.ndjson');
    await writeFile(file, [{ Name: 'a' }, { n: 'text' }, { Name: 'b' }].map((row) => JSON.stringify(row)).join('\n'));
    const args = ['--system', world.service().appId, '--table', table, '--file', file];
    const act = async () => {
      // A line is refused: exit code 2.
      await assert.rejects(succeed(world.service(), 'import', ...args), /, 1 rejected/);
    };
    await world.effects(act, expected(table, { create: 2 }));
  });

  test('Events 2: a table has the triggers of its own alone', async () => {
    const other = await world.place();
    await listen(other);
    const refersTo = await world.place({ P: `Pointer:${other}`, R: `Relation:${other}` });
    const to = await world.create(other, {});
    await world.settle();
    const R = { __op: 'AddRelation', objects: [pointer(other, to)] };
    const act = () => world.create(refersTo, { P: pointer(other, to), R });
    await world.effects(act, made(refersTo));
  });
}, 'apart');
