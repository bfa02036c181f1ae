/** Reference: triggers.md#definition. A malformed definition is 400 code 107 `Invalid trigger: <why>`; criteria are refused with the errors of `where`. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, pointer, type Refusal } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { useGroundStore } from './ground.ts';

const why = (error: string): Refusal => ({ code: 107, error: `Invalid trigger: ${error}` });
const mail = { type: 'e-mail', actionData: { to: 'a@b.test', subject: 's', html: 'h' } };
const action = (type: string, actionData: unknown) => ({ actions: [mail, { type, actionData }] });
const schedule = (cron: unknown, timezone?: unknown) => ({
  events: ['schedule'],
  schedule: { cron, ...(timezone !== undefined && { timezone }) },
});
const deleted = { __op: 'Delete' };

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useGroundStore(engine);
    const table = 'RefusedDefinitions';
    before(async () => {
      await store.table({ Name: 'String', Up: { type: 'Pointer', targetClass: 'Accounts' }, Value: 'Object' }, table);
    });
    const whole = (more: object = {}) => ({ Name: 'n', table, events: ['update'], actions: [mail], ...more });

    const cases: [what: string, more: object, Refusal][] = [
      ['an unknown event', { events: ['update', 'login'] }, why('events[1] is unknown: login')],
      ['no event', { events: [] }, why('events are empty')],
      ['events taken away', { events: deleted }, why('events is missing')],
      ['an unknown type', action('sms', {}), why('actions[1].type is unknown: sms')],
      ['a type that every object has', action('toString', {}), why('actions[1].type is unknown: toString')],
      ['no table', { table: null }, why('table is missing')],
      ['a table that is not there', { table: 'Nowhere' }, why('table is not there: Nowhere')],
      ['a hidden table', { table: '_StoredFile' }, why('table is not there: _StoredFile')],
      ['__proto__ as a table', { table: '__proto__' }, why('table is not there: __proto__')],
      [
        'a changed field that the table has not',
        { changedFields: ['Name', 'Nope'] },
        why(`changedFields[1] is no field of ${table}: Nope`),
      ],
      [
        'a secret as a changed field',
        { table: '_User', changedFields: ['password'] },
        why('changedFields[0] is no field of _User: password'),
      ],
      [
        'a target that the table has not',
        action('update-object', { target: 'Nope', fields: {} }),
        why(`actions[1].actionData.target is neither self nor a Pointer field of ${table}: Nope`),
      ],
      [
        'a target that is no Pointer',
        action('update-object', { target: 'Name', fields: {} }),
        why(`actions[1].actionData.target is neither self nor a Pointer field of ${table}: Name`),
      ],
      [
        'more templates than an action can look up',
        action('create-object', { table, fields: { Value: { list: Array(10_001).fill('{{Name}}') } } }),
        why('actions have more than 10,000 templates'),
      ],
      ['no target', action('update-object', { fields: {} }), why('actions[1].actionData.target is missing')],
      [
        'a table to write that cannot be',
        action('create-object', { table: 'No where', fields: {} }),
        why('actions[1].actionData.table is no name of a table: No where'),
      ],
      [
        'a table of the service to write that is not there',
        action('create-object', { table: '_Nowhere', fields: {} }),
        why('actions[1].actionData.table is not there: _Nowhere'),
      ],
      [
        'an ill-formed field name for a table to be',
        action('create-object', { table: 'Nowhere', fields: { 'a b': 1 } }),
        why('actions[1].actionData.fields has an invalid name: a b'),
      ],
      [
        'a hidden table to write',
        action('create-object', { table: '_TriggerQueue', fields: {} }),
        why('actions[1].actionData.table is not there: _TriggerQueue'),
      ],
      [
        'an ill-formed field name',
        action('create-object', { table, fields: { 'a b': 1 } }),
        why('actions[1].actionData.fields has an invalid name: a b'),
      ],
      [
        'a field name of the service',
        action('create-object', { table, fields: { _x: 1 } }),
        why('actions[1].actionData.fields has an invalid name: _x'),
      ],
      ['no receiver', action('e-mail', { subject: 's', html: 'h' }), why('actions[1].actionData.to is missing')],
      [
        'a long subject',
        action('e-mail', { to: 'a', subject: 's'.repeat(1001), html: 'h' }),
        why('actions[1].actionData.subject is longer than 1,000 characters'),
      ],
      [
        'a key that an action has not',
        action('notification', { user: 'u', content: 'c', sound: 1 }),
        why('actions[1].actionData.sound is unknown'),
      ],
      ...['Name', 'Up', 'objectId', 'password', 'OwnerID', '{Up}'].map((user): [string, object, Refusal] => [
        `${user} to be notified`,
        action('notification', { user, content: 'c' }),
        why(`actions[1].actionData.user is neither an id, a template nor a Pointer of ${table} to _User: ${user}`),
      ]),
      [
        'a Pointer elsewhere to be notified',
        action('notification', { user: pointer('Tags', 'tag0000001'), content: 'c' }),
        why('actions[1].actionData.user is no Pointer to _User'),
      ],
      [
        'an address that is no text',
        action('e-mail', { to: ['a', null], subject: 's', html: 'h' }),
        why('actions[1].actionData.to[1] is not a text'),
      ],
      ['no action data', action('server-side-code', undefined), why('actions[1].actionData is missing')],
      [
        'an action id of another form',
        { actions: [{ ...mail, _id: 'x' }] },
        why('actions[0]._id is not 10 letters, digits, _ or -'),
      ],
      [
        'an action id twice',
        {
          actions: [
            { ...mail, _id: 'aaaaaaaaaa' },
            { ...mail, _id: 'aaaaaaaaaa' },
          ],
        },
        why('two actions have the same _id'),
      ],
      ['more than 100 actions', { actions: Array(101).fill(mail) }, why('actions has more than 100 elements')],
      [
        'a schedule without the event',
        { schedule: { cron: '* * * * *' } },
        why('schedule is there, but events have no schedule'),
      ],
      ['the event without a schedule', { events: ['schedule'] }, why('schedule is missing')],
      ['no cron', { events: ['schedule'], schedule: {} }, why('schedule.cron is missing')],
      ['a cron that cannot be read', schedule('61 * * * *'), why('schedule.cron cannot be read: 61 * * * *')],
      ['a cron of 7 fields', schedule('* * * * * * *'), why('schedule.cron has not 5 or 6 fields')],
      ['a nickname', schedule('@hourly'), why('schedule.cron has not 5 or 6 fields')],
      ['a cron that never comes', schedule('0 0 30 2 *'), why('schedule.cron has no run within the next eight years')],
      [
        'a time zone that is none',
        schedule('* * * * *', 'Asia/Atlantis'),
        why('schedule.timezone is no IANA time zone: Asia/Atlantis'),
      ],
      [
        'a key that a schedule has not',
        { events: ['schedule'], schedule: { cron: '* * * * *', tz: 'UTC' } },
        why('schedule.tz is unknown'),
      ],
      ['a key that a definition has not', { Nope: 1 }, why('Nope is unknown')],
      ['a forbidden key', JSON.parse('{"__proto__":1}'), { code: 105, error: 'Invalid field name: __proto__' }],
      [
        'a forbidden key in criteria',
        { criteria: JSON.parse('{"Value":{"a":{"constructor":1}}}') },
        { code: 105, error: 'Invalid field name: constructor' },
      ],
      [
        'a forbidden key in a template',
        action('create-object', { table, fields: { Value: JSON.parse('{"__proto__":1}') } }),
        { code: 105, error: 'Invalid field name: __proto__' },
      ],
      [
        'an operator on a part',
        { events: { __op: 'AddUnique', objects: ['create'] } },
        why('events is written whole, without operators'),
      ],
      [
        'an operator on a switch',
        { Active: { __op: 'SetOnInsert', amount: true } },
        why('Active is written whole, without operators'),
      ],
      ['a dotted name', { 'criteria.Name': 'x' }, why('criteria.Name is a part of criteria, which is written whole')],
      ['Active that is no Boolean', { Active: 1 }, why('Active is not true or false')],
      ['criteria that are no object', { criteria: 'Name' }, why('criteria are not an object')],
      ['an unknown operator in criteria', { criteria: { Name: { $near: 1 } } }, { code: 102, error: 'bad constraint: $near' }],
      ['criteria on the ACL', { criteria: { ACL: {} } }, { code: 102, error: 'Cannot query on ACL.' }],
      ['a malformed operand in criteria', { criteria: { Name: { $in: 'x' } } }, { code: 107, error: /\$in/ }],
      ['an ill-formed name in criteria', { criteria: { 'a b': 1 } }, { code: 105, error: 'Invalid field name: a b' }],
      [
        'a secret in criteria',
        { table: '_User', criteria: { password: 'x' } },
        { code: 119, error: 'This user is not allowed to access password on class _User' },
      ],
      [
        '$text without an index',
        { criteria: { $text: { $search: { $term: 'x' } } } },
        { code: 1, status: 500, error: /text index/ },
      ],
    ];
    for (const [what, more, refusal] of cases)
      test(`${what}, in a create and in an update`, async () => {
        const id = await store.create('_Trigger', whole());
        const before = await store.snapshot('_Trigger');
        assertRefused(await store.post('_Trigger', whole(more)), refusal);
        assertRefused(await store.put('_Trigger', id, more), refusal);
        assert.equal(await store.snapshot('_Trigger'), before);
      });

    test('an id that a client chooses has 10 letters and digits', async () => {
      assertRefused(await store.post('_Trigger', whole({ objectId: 'a,b' })), why('objectId is not 10 letters and digits'));
      assert.equal(await store.create('_Trigger', whole({ objectId: 'Chosen0001' })), 'Chosen0001');
    });

    test('the _id of another definition', async () => {
      const [id, other] = [await store.create('_Trigger', whole()), await store.create('_Trigger', whole())];
      for (const _id of [other, '', null, { __op: 'Delete' }])
        assertRefused(await store.put('_Trigger', id, { _id, Name: 'x' }), why('_id is that of another definition'));
      assert.equal((await store.read('_Trigger', id)).Name, 'n');
    });

    test('an update is held to the whole definition', async () => {
      const id = await store.create('_Trigger', whole({ changedFields: ['Value.a'] }));
      assertRefused(await store.put('_Trigger', id, { table: 'Tasks' }), why('changedFields[0] is no field of Tasks: Value'));
      assertRefused(await store.put('_Trigger', id, { events: ['schedule'] }), why('schedule is missing'));
      await store.update('_Trigger', id, { events: ['schedule'], schedule: { cron: '0 9 * * *' } });
      assertRefused(
        await store.put('_Trigger', id, { events: ['update'] }),
        why('schedule is there, but events have no schedule'),
      );
      assertRefused(await store.put('_Trigger', id, { schedule: deleted }), why('schedule is missing'));
    });
  });
