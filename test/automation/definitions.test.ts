/**
 * Reference: triggers.md#definition. Definitions are rows of the system table `_Trigger`; schema reads list them under `triggers`. What of them may be
 * stored, by whom, and how they read back.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, date, type Json, master, pointer } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { captcha, denied, notFound, signUp } from '../support/users.ts';
import { useGroundStore } from './ground.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useGroundStore(engine);
    let table = '';
    before(async () => {
      table = await store.table({
        Name: 'String',
        Total: 'Number',
        Due: 'Date',
        Tags: 'Array',
        Value: 'Object',
        OwnerId: { type: 'Pointer', targetClass: '_User' },
        Parent: { type: 'Pointer', targetClass: 'Accounts' },
      });
    });

    const note = (more: object = {}) => ({ type: 'create-object', actionData: { table, fields: { Name: '{{Name}}' } }, ...more });
    const whole = (more: object = {}) => ({ Name: 'n', table, events: ['update'], actions: [note()], ...more });
    const make = (more: object = {}) => store.create('_Trigger', whole(more));
    const schema = async (name: string, options = {}): Promise<Json> => {
      const answer = await store.call('GET', `/platform/schemas/${name}`, options);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    /** A definition as schema reads list it: the row, named by `_id`, without what every record has. */
    const listed = ({ objectId, createdAt, updatedAt, createdBy, updatedBy, ACL, ...row }: Json): Json => ({
      _id: objectId,
      ...row,
    });

    test('Active is true and actions have an _id of 10 letters and digits where they are left out', async () => {
      const body = {
        table,
        events: ['create'],
        actions: [note(), note({ _id: 'Abcdefghi1', Active: false }), note({ _id: null })],
      };
      const id = await store.create('_Trigger', body);
      assert.match(id, /^[0-9A-Za-z]{10}$/);
      const row = await store.read('_Trigger', id);
      assert.equal(row.Active, true);
      const ids = row.actions.map(({ _id }: Json) => _id);
      for (const each of ids) assert.match(each, /^[0-9A-Za-z]{10}$/);
      assert.deepEqual([ids[1], new Set(ids).size], ['Abcdefghi1', 3]);
      assert.deepEqual(row.actions[1], note({ _id: 'Abcdefghi1', Active: false }));
      assert.deepEqual(row.createdBy, master);
      for (const name of ['nextRun', 'lastRun', 'criteria', 'schedule', 'changedFields', '_cursor'])
        assert.ok(!(name in row), name);
    });

    test('every type of action, and every key that it may have', async () => {
      const actions = [
        note({ _id: 'a000000001', Active: true }),
        {
          _id: 'a000000002',
          type: 'update-object',
          actionData: {
            target: 'self',
            fields: {
              Total: { __op: 'Increment', amount: 1 },
              'Value.key': '{{Parent.Name}}',
              Tags: { __op: 'AddUnique', objects: ['{{Name}}', { 'a.b': '{{Name}}', $c: 1 }] },
              Parent: { __type: 'Pointer', className: 'Accounts', objectId: '{{Parent}}' },
              Due: { __type: 'Date', iso: '{{updatedAt}}' },
              NewField: null,
            },
          },
        },
        { _id: 'a000000003', type: 'update-object', actionData: { target: 'Parent', fields: { Name: 'x' } } },
        {
          _id: 'a000000004',
          type: 'e-mail',
          actionData: { to: '{{Email}}', cc: 'c', bcc: 'b', subject: 'שלום', html: '<b>{{Name}}</b>' },
        },
        { _id: 'a000000005', type: 'notification', actionData: { user: 'OwnerId', content: '{{Name}}', icon: 'bell' } },
        { _id: 'a000000006', type: 'server-side-code', actionData: { functionName: 'work', useQueue: true } },
      ];
      const body = whole({
        actions,
        events: ['create', 'update', 'delete'],
        changedFields: ['Name', 'Value.key'],
        Active: false,
      });
      const row = await store.read('_Trigger', await store.create('_Trigger', body));
      assert.deepEqual(listed(row), { _id: row.objectId, ...body });
    });

    for (const [what, criteria] of [
      ['$or', { $or: [{ Name: 'a' }, { Total: { $gte: 5, $lt: 7 } }] }],
      ['containedIn', { Name: { $in: ['a', 'b', null] }, Tags: { $nin: [1] } }],
      ['a Pointer', { OwnerId: pointer('_User', 'abcdefghij') }],
      ['a Date', { Due: { $gt: date('2024-01-01T00:00:00.000Z') } }],
      ['a dotted place', { 'Value.a.b': { $exists: true }, createdAt: { $gt: { $relativeTime: '1 day ago' } } }],
      ['a sub-query', { Parent: { $inQuery: { className: 'Accounts', where: { IsAccount: true } } } }],
      ['a pattern', { Name: { $regex: '^a', $options: 'i' } }],
      ['nothing', {}],
    ] as const)
      test(`criteria read back as they were sent: ${what}`, async () => {
        const id = await make({ criteria });
        const answer = await store.get('_Trigger', id);
        assert.deepEqual(answer.body.criteria, criteria);
        // The order of keys too.
        assert.ok(answer.text.includes(JSON.stringify(criteria)));
        const { triggers } = await schema(table);
        assert.deepEqual(triggers.at(-1).criteria, criteria);
      });

    test('a saved report has a where too', async () => {
      const where = { $or: [{ 'Value.a': { $in: [1] } }, { Name: { $ne: 'x' } }] };
      const id = await store.create('_DynamicQueries', { Name: 'n', table, where });
      assert.deepEqual((await store.read('_DynamicQueries', id)).where, where);
      await store.update('_DynamicQueries', id, { where: { Name: { $gt: 'a' } } });
      assert.deepEqual((await store.read('_DynamicQueries', id)).where, { Name: { $gt: 'a' } });
      for (const bad of ['{"a":{"__proto__":1}}', '{"$or":[{"constructor":1}]}'])
        assertRefused(await store.post('_DynamicQueries', `{"where":${bad}}`), { code: 105 });
      const deep = `{"where":${'{"a":'.repeat(120)}1${'}'.repeat(120)}}`;
      assertRefused(await store.post('_DynamicQueries', deep), { code: 107 });
      assertRefused(await store.post(table, { Value: { $a: 1 } }), { code: 121 });
      assertRefused(await store.post('_DynamicQueries', { Name: 'n', keys: [{ $a: 1 }] }), { code: 121 });
    });

    test('an update changes what it names: a part is replaced whole, Delete and null take it away', async () => {
      const id = await make({ criteria: { Name: { $ne: 'a' } }, changedFields: ['Name'] });
      const first = await store.read('_Trigger', id);
      await store.update('_Trigger', id, { Name: 'other' });
      await store.update('_Trigger', id, { criteria: { Total: { $gt: 1 } } });
      const second = await store.read('_Trigger', id);
      assert.deepEqual({ ...second, updatedAt: 0 }, { ...first, updatedAt: 0, Name: 'other', criteria: { Total: { $gt: 1 } } });
      await store.update('_Trigger', id, { criteria: { __op: 'Delete' }, changedFields: null, actions: [note()], Active: null });
      const { criteria, changedFields, actions, Active } = await store.read('_Trigger', id);
      assert.deepEqual([criteria, changedFields, Active], [undefined, undefined, true]);
      assert.match(actions[0]._id, /^[0-9A-Za-z]{10}$/);
    });

    test('columns that an operator has added are their own', async () => {
      const answer = await store.call('PUT', '/platform/schemas/_Trigger', { body: { fields: { Remark: { type: 'String' } } } });
      assert.equal(answer.status, 200, answer.text);
      const id = await make({ Remark: 'x', ACL: {} });
      assert.equal((await store.read('_Trigger', id)).Remark, 'x');
    });

    test('a definition that the tables do not fit any more can be switched off, and not on again', async () => {
      const gone = await store.table({ F: 'String' });
      const id = await store.create('_Trigger', { table: gone, events: ['update'], changedFields: ['F'], actions: [] });
      assert.equal((await store.call('DELETE', `/platform/schemas/${gone}`)).status, 200);
      assertRefused(await store.put('_Trigger', id, { events: ['create'] }), { code: 107 });
      await store.update('_Trigger', id, { Active: false, Name: 'off' });
      assert.equal((await store.read('_Trigger', id)).Active, false);
      assertRefused(await store.put('_Trigger', id, { Active: true }), {
        code: 107,
        error: `Invalid trigger: table is not there: ${gone}`,
      });
      assert.equal((await store.remove('_Trigger', id)).status, 200);
      assertRefused(await store.get('_Trigger', id), notFound);
      assertRefused(await store.put('_Trigger', id, { Active: true }), notFound);
    });

    test('per-table schema reads list the definitions of the table, for both keys; the list of tables does not', async () => {
      const own = await store.table({ Name: 'String' });
      assert.deepEqual((await schema(own)).triggers, []);
      const ids: string[] = [];
      for (const more of [{ Name: 'b' }, { Name: 'a', Active: false }, { events: ['schedule'], schedule: { cron: '0 9 * * *' } }])
        ids.push(await store.create('_Trigger', whole({ table: own, ...more })));
      const rows = await Promise.all(ids.map((id) => store.read('_Trigger', id)));
      for (const as of ['master', 'apiKey'] as const) assert.deepEqual((await schema(own, { as })).triggers, rows.map(listed));
      assert.ok('nextRun' in rows[2]);
      const changed = await store.call('PUT', `/platform/schemas/${own}`, { body: { fields: {} } });
      assert.ok(!('triggers' in changed.body));
      const all = await store.call('GET', '/platform/schemas');
      for (const each of all.body.results) assert.ok(!('triggers' in each), each.className);
    });

    test('decisions: what schema reads show can be sent back', async () => {
      const own = await store.table({ Name: 'String' });
      const id = await store.create('_Trigger', whole({ table: own }));
      const before = await store.read('_Trigger', id);
      const read = await schema(own);
      const [definition] = read.triggers;
      await store.update('_Trigger', id, { ...definition, Name: 'again' });
      assert.deepEqual(listed(await store.read('_Trigger', id)), { ...listed(before), Name: 'again' });
      const copy = await store.create('_Trigger', definition);
      assert.notEqual(copy, id);
      assert.deepEqual(listed(await store.read('_Trigger', copy)), { ...listed(before), _id: copy });
      const triggers = [{ _id: id, Name: 'of a schema' }];
      const put = await store.call('PUT', `/platform/schemas/${own}`, { body: { className: own, fields: {}, triggers } });
      assert.equal(put.status, 200, put.text);
      const post = await store.call('POST', `/platform/schemas/Copy${own}`, { body: { fields: {}, triggers } });
      assert.equal(post.status, 200, post.text);
      assert.deepEqual((await schema(`Copy${own}`)).triggers, []);
      assert.equal((await store.read('_Trigger', id)).Name, 'again');
    });

    test('decisions: the triggers of a table that is dropped are switched off, and a new table of its name does not fire them', async () => {
      const own = await store.table({ Name: 'String' });
      const [id, kept] = [await make({ table: own, events: ['create'] }), await make()];
      const timing = { events: ['schedule'], schedule: { cron: '0 9 * * *' } };
      const timed = await make({ table: own, ...timing });
      assert.ok((await store.read('_Trigger', timed)).nextRun);
      assert.equal((await store.call('DELETE', `/platform/schemas/${own}`)).status, 200);
      for (const each of [id, timed]) {
        const { Active, nextRun } = await store.read('_Trigger', each);
        assert.deepEqual([Active, nextRun], [false, undefined]);
      }
      assert.equal((await store.read('_Trigger', kept)).Active, true);
      await store.create(own, { Name: 'x' });
      await store.update('_Trigger', id, { Active: true });
      await store.create(own, { Name: 'y' });
      const log = async () => {
        const { body } = await store.call('GET', '/platform/classes/_syslogTriggers', { query: { where: { triggerId: id } } });
        return body.results.filter((row: Json) => row.actionId === undefined);
      };
      for (const until = Date.now() + 5_000; (await log()).length === 0 && Date.now() < until; );
      assert.deepEqual(
        (await log()).map(({ data }: Json) => JSON.parse(data).Name),
        ['y'],
      );
    });

    test('who writes definitions: keys, and who has the right to the table; Admin in a new system', async () => {
      const id = await store.create('_Trigger', whole(), { as: 'apiKey' });
      await store.update('_Trigger', id, { Active: false }, { as: 'apiKey' });
      const [admin, nobody] = [await signUp(store), await signUp(store)];
      const { results } = (await store.call('GET', '/platform/roles', { query: { where: { name: 'Admin' } } })).body;
      const body = { users: { __op: 'AddRelation', objects: [pointer('_User', admin.id)] } };
      assert.equal((await store.call('PUT', `/platform/roles/${results[0].objectId}`, { body })).status, 200);
      const notify = { type: 'notification', actionData: { user: 'OwnerId', content: '{{Name}}' } };
      const may = { table: 'Accounts', criteria: null, changedFields: null, actions: [notify] };
      // Who has the right to what it does, too: a table that REST made is nobody's.
      assertRefused(await store.post('_Trigger', whole(), { session: admin.token }), denied('get', table));
      const own = await store.create('_Trigger', whole(may), { session: admin.token });
      await store.update('_Trigger', own, { Name: 'x' }, { session: admin.token });
      assertRefused(await store.post('_Trigger', { table }, { session: admin.token }), {
        code: 107,
        error: 'Invalid trigger: events is missing',
      });
      // What a definition lacks is told to nobody else.
      assertRefused(await store.post('_Trigger', { table }, { session: nobody.token }), denied('create', '_Trigger'));
      assertRefused(await store.put('_Trigger', own, { table: 5 }, { session: nobody.token }), denied('update', '_Trigger'));
      assertRefused(await store.post('_Trigger', {}, { as: 'anonymous' }), captcha);
      await store.update('_Trigger', own, { ACL: { [nobody.id]: { read: true, write: true } } });
      assertRefused(await store.put('_Trigger', own, { table: 5 }, { session: admin.token }), notFound);
    });

    test('a batch', async () => {
      const [id, other] = [await make(), await make()];
      const requests = [
        { method: 'POST', path: '/platform/classes/_Trigger', body: whole({ Name: 'batch' }) },
        { method: 'POST', path: '/platform/classes/_Trigger', body: whole({ events: [] }) },
        { method: 'PUT', path: `/platform/classes/_Trigger/${id}`, body: { Active: false } },
        { method: 'DELETE', path: `/platform/classes/_Trigger/${other}` },
      ];
      const answer = await store.call('POST', '/platform/batch', { body: { requests } });
      const [made, refused, changed, removed] = answer.body;
      assert.equal((await store.read('_Trigger', made.success.objectId)).Name, 'batch');
      assert.deepEqual(refused, { error: { code: 107, error: 'Invalid trigger: events are empty' } });
      assert.ok(changed.success && removed.success, answer.text);
      assert.equal((await store.read('_Trigger', id)).Active, false);
      assertRefused(await store.get('_Trigger', other), notFound);
    });
  });
