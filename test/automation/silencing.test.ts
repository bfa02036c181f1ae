/** The narrow flags count only for the triggers of that write. Reference: records.md#silencing-flags. */
import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { newPhone } from '../functions/forms.ts';
import { type Json, path, pointer } from '../support/records.ts';
import type { CallOptions } from '../support/service.ts';
import { signUp, type User } from '../support/users.ts';
import {
  type Counts,
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
  plus,
  runs,
  runsCode,
  updates,
} from './effects.ts';
import { onAnyEngine } from './world.ts';

const triggers = 'dontRunPlatformTriggers';
const timeline = 'dontUpdatePlatformTimeline';
const create = 'dontRunPlatformTriggersCreate';
const update = 'dontRunPlatformTriggersUpdate';
const events = ['create', 'update', 'delete'] as const;
type Event = (typeof events)[number];
/** Flags that are true, and the values that are sent. */
const sets: readonly { name: string; flags: Json; on: readonly string[] }[] = [
  { name: 'none', flags: {}, on: [] },
  { name: triggers, flags: { [triggers]: true }, on: [triggers] },
  { name: timeline, flags: { [timeline]: true }, on: [timeline] },
  { name: create, flags: { [create]: true }, on: [create] },
  { name: update, flags: { [update]: true }, on: [update] },
  { name: 'both narrow ones', flags: { [create]: true, [update]: true }, on: [create, update] },
  {
    name: 'all',
    flags: { [triggers]: true, [timeline]: true, [create]: true, [update]: true },
    on: [triggers, timeline, create, update],
  },
  { name: 'all false', flags: { [triggers]: false, [timeline]: false, [create]: false, [update]: false }, on: [] },
];

onAnyEngine((world) => {
  let user: User;
  let table: string;
  let heard: string;
  let other: string;
  let to: string;
  before(async () => {
    user = await signUp(world);
  });
  beforeEach(async () => {
    heard = await world.place();
    other = await world.place({ n: 'Number' });
    table = await world.place({ n: 'Number', P: `Pointer:${other}` });
    to = await world.create(other, {});
    const increment = { n: { __op: 'Increment', amount: 1 } };
    const actions = [creates(heard), updates('P', increment), notifies(user.id), runsCode('notes')];
    await world.trigger({ table, events, actions });
  });

  const callers: Record<string, () => CallOptions> = {
    'master key': () => ({ as: 'master' }),
    'API key': () => ({ as: 'apiKey' }),
    'session user, whose flags are not honoured': () => ({ session: user.token }),
  };
  /** A write of one record, with flags in its body. */
  const write = async (event: Event, id: string, flags: Json, options: CallOptions, how: 'single' | 'batch') => {
    const body = event === 'delete' ? flags : { P: pointer(other, to), n: 1, ...flags };
    const method = { create: 'POST', update: 'PUT', delete: 'DELETE' }[event];
    const at = event === 'create' ? path(table) : path(table, id);
    if (how === 'single') {
      const answer = await world.call(method, at, { ...options, body });
      assert.ok(answer.status < 300, answer.text);
    } else {
      const { body: items } = await world.call('POST', '/platform/batch', {
        ...options,
        body: { requests: [{ method, path: at, body }] },
      });
      assert.ok(items[0].success, JSON.stringify(items));
    }
  };
  const all: Counts = plus(runs(1, 4), notified(), called());

  const expected = (event: Event, on: readonly string[]): Counts => {
    const own = { create: made(table), update: changed(table), delete: gone(table) }[event];
    const written = on.includes(timeline)
      ? Object.fromEntries(Object.entries(own).filter(([key]) => key.startsWith('records')))
      : own;
    if (on.includes(triggers)) return written;
    const skipped = on.filter((flag) => flag === create || flag === update);
    const all = plus(runs(1, 4 - skipped.length), notified(), called());
    return plus(written, all, on.includes(create) ? nothing : made(heard), on.includes(update) ? nothing : changed(other));
  };

  for (const [caller, options] of Object.entries(callers))
    for (const how of ['single', 'batch'] as const)
      test(`the four flags under a ${caller} (${how})`, async () => {
        for (const { name, flags, on } of sets) {
          // The records before, that nobody hears of.
          const silent = { [triggers]: true, [timeline]: true };
          const ids = new Map<Event, string>();
          for (const event of ['update', 'delete'] as const)
            ids.set(event, await world.create(table, { P: pointer(other, to), ...silent }));
          const counted = caller.startsWith('session') ? [] : on;
          const act = () => Promise.all(events.map((event) => write(event, ids.get(event) ?? '', flags, options(), how)));
          await world.effects(act, ...events.map((event) => expected(event, counted))).catch((error) => {
            error.message = `${name}: ${error.message}`;
            throw error;
          });
        }
        // They are consumed by the server: the record is saved without them and no column is created.
        const fields = Object.keys(await world.fields(table));
        for (const flag of [triggers, timeline, create, update]) assert.ok(!fields.includes(flag), flag);
        for (const record of await world.find(table)) assert.ok(!Object.keys(record).some((key) => key.startsWith('dont')));
        for (const { data = {} } of await world.find('_Timeline', { objectClass: table }))
          assert.ok(!Object.keys(data).some((key) => key.startsWith('dont')), JSON.stringify(data));
      });

  test('in a batch a flag counts for its item alone; next to `requests` it is ignored', async () => {
    const P = pointer(other, to);
    const post = (flags: object) => ({ method: 'POST', path: path(table), body: { P, ...flags } });
    const requests = [post({}), post({ [triggers]: true }), post({ [create]: true }), post({ [timeline]: true })];
    const act = () =>
      world.call('POST', '/platform/batch', { body: { requests, [triggers]: true, [timeline]: true, skipTriggers: true } });
    const records = { [`records ${table}`]: 4, [`create ${table}`]: 3 };
    await world.effects(act, records, made(heard, 2), changed(other, 3), notified(3), called(3), runs(3, 11));
  });

  test('dontUpdatePlatformTimeline is about the write itself: what its triggers write is in the timeline', async () => {
    const one = await world.place();
    await world.trigger({ table: one, events: ['create'], actions: [creates(heard), updates('self', { Name: 'seen' })] });
    const act = () => world.create(one, { [timeline]: true });
    const id = await world.effects(act, { [`records ${one}`]: 1 }, made(heard), changed(one), runs(1, 2));
    const rows = await world.find('_Timeline', { objectClass: one, objectIdValue: id });
    assert.deepEqual(
      rows.map(({ event }) => event),
      ['update'],
    );
  });

  test('the two narrow flags change nothing for a trigger whose actions are all mail or notification', async () => {
    const quiet = await world.place();
    await world.trigger({ table: quiet, events: ['create'], actions: [mails('a@example.com'), notifies(user.id)] });
    const act = () => world.create(quiet, { [create]: true, [update]: true });
    await world.effects(act, made(quiet), mailed(), notified(), runs(1, 2));
  });

  test('a trigger whose actions are all skipped leaves the row that it fired', async () => {
    const one = await world.place();
    await world.trigger({ table: one, events: ['create'], actions: [creates(heard), creates(heard)] });
    await world.effects(() => world.create(one, { [create]: true }), made(one), runs(1, 0));
  });

  test('the flags of a write count for its own triggers, not for those further down the chain', async () => {
    const next = await world.place();
    const self = { type: 'update-object', actionData: { target: 'self', fields: { Name: 'seen' } } };
    await world.trigger({ table: other, events: ['update'], actions: [creates(next), self] });
    const silent = { [triggers]: true, [timeline]: true };
    const id = await world.create(table, { P: pointer(other, to), ...silent });
    const act = () => world.update(table, id, { [create]: true, [timeline]: true });
    // The update of `other` is level 1's; its trigger makes a record and changes itself, twice more, until the chain ends.
    const chain = plus(changed(other, 3), made(next, 2), runs(2, 4, 1));
    await world.effects(act, notified(), called(), runs(1, 3), chain);
    await world.effects(() => world.update(table, id, { [triggers]: true }), changed(table));
  });

  test('functions: the operator’s writes may silence, forms may not', async () => {
    const input = { table, more: { P: pointer(other, to), [triggers]: true } };
    const act = async () => assert.equal((await world.send('writes', { body: input })).status, 200);
    // Its delete has no flag.
    const own = { [`create ${table}`]: 1, [`update ${table}`]: 1, [`delete ${table}`]: 1 };
    await world.effects(act, own, made(heard), changed(other), all);
    await world.trigger({ table: 'Accounts', events: ['create'], actions: [creates(heard)] });
    const lead = () =>
      world.send('getlead', { body: { PhoneNumber: newPhone(), [triggers]: true, [timeline]: true, [create]: true } });
    const answer = await world.effects(lead, made('Accounts'), made(heard), runs());
    assert.equal(answer.status, 200, answer.text);
  });

  test('a caller who may not write silences nothing, and leaves nothing', async () => {
    for (const options of [{ as: 'anonymous' }, { as: 'anonymous', headers: { 'X-Platform-API-Key': 'wrong' } }] as const) {
      const act = () => world.post(table, { Name: 'x', [triggers]: true }, options);
      assert.equal((await world.effects(act, nothing)).status, 400);
    }
  });
});
