/** A trigger writes as the master, so a user who defines one must be allowed what it does. Reference: triggers.md#authority-of-a-trigger. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, path, unique } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';
import { useGroundStore } from './ground.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useGroundStore(engine);
    let session = '';
    const table = 'Accounts';
    before(async () => {
      const name = `${unique('admin')}@example.com`;
      const signed = await store.call('POST', '/platform/users', { body: { username: name, password: 'Passw0rdOk' } });
      assert.equal(signed.status, 201, signed.text);
      const roles = await store.call('GET', path('_Role'), { query: { where: { name: 'Admin' } } });
      const users = { __op: 'AddRelation', objects: [{ __type: 'Pointer', className: '_User', objectId: signed.body.objectId }] };
      await store.update('_Role', roles.body.results[0].objectId, { users });
      session = signed.body.sessionToken;
      await store.table({ Name: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } }, 'Nobodys');
      const links = { Session: { type: 'Pointer', targetClass: '_Session' } };
      const classLevelPermissions = { get: { 'role:Admin': true } };
      await store.call('POST', '/platform/schemas/Links', { body: { fields: links, classLevelPermissions } });
    });
    const creates = (name: string, fields: object = {}) => ({ type: 'create-object', actionData: { table: name, fields } });
    const updates = (fields: object) => ({ type: 'update-object', actionData: { target: 'self', fields } });
    const mails = (html: string) => ({ type: 'e-mail', actionData: { to: 'a@example.com', subject: 's', html } });
    const denied = (action: string, name: string) => ({
      code: 119,
      error: `Permission denied for action ${action} on class ${name}`,
    });
    const define = (more: object, as: object) =>
      store.post('_Trigger', { table, events: ['update'], Active: false, ...more }, as);

    const allowed: [what: string, more: object][] = [
      ['records of tables that he may write', { actions: [creates('Tasks', { Name: '{{Name}}', AccountId: '{{objectId}}' })] }],
      ['a record of his', { actions: [updates({ Comment: 'seen' })] }],
      ['names of users', { actions: [mails('{{OwnerId.name}} {{OwnerId.username}}')] }],
    ];
    for (const [what, more] of allowed)
      test(`an Admin defines what the Admin may do: ${what}`, async () => {
        const answer = await define(more, { session });
        assert.equal(answer.status, 201, answer.text);
      });

    const refused: [what: string, more: object, { code: number; error: string }][] = [
      ['a password', { table: '_User', actions: [updates({ password: 'Passw0rdOk' })] }, denied('update', '_User')],
      ['users', { actions: [creates('_User', { username: 'x', password: 'Passw0rdOk' })] }, denied('create', '_User')],
      ['a table without permissions', { actions: [creates('Nobodys')] }, denied('create', 'Nobodys')],
      ['a new table', { actions: [creates('NobodysNew')] }, denied('create', 'NobodysNew')],
      ['triggers of such a table', { table: 'Nobodys', actions: [mails('')] }, denied('get', 'Nobodys')],
      ['the request log', { table: '_RequestLog', actions: [mails('{{path}}')] }, denied('get', '_RequestLog')],
      ['triggers', { actions: [creates('_Trigger', { Name: 'B' })] }, denied('create', '_Trigger')],
      ['triggers that are there', { table: '_Trigger', actions: [updates({ Name: 'B' })] }, denied('update', '_Trigger')],
      [
        'sessions',
        { table: '_Session', events: ['create'], actions: [updates({ expiresAt: '' })] },
        denied('update', '_Session'),
      ],
      ['sessions to be', { actions: [creates('_Session')] }, denied('create', '_Session')],
      [
        'what a Pointer leads to of these',
        { table: 'Links', actions: [{ type: 'update-object', actionData: { target: 'Session', fields: { Note: 'x' } } }] },
        denied('update', '_Session'),
      ],
      [
        'what a sub-query tells of such a table',
        {
          criteria: { objectId: { $select: { query: { className: 'Nobodys', where: {} }, key: 'Name' } } },
          actions: [mails('')],
        },
        denied('find', 'Nobodys'),
      ],
    ];
    for (const [what, more, error] of refused)
      test(`and not what the Admin may not do: ${what}`, async () => {
        assertRefused(await define(more, { session }), error);
        const id = (await define({ actions: [mails('')] }, { session })).body.objectId;
        assertRefused(await store.put('_Trigger', id, more, { session }), error);
      });

    const inOneBatch = (id: string, bodies: readonly object[], as: object): Promise<Answer> => {
      const requests = bodies.map((body) => ({ method: 'PUT', path: path('_Trigger', id), body }));
      return store.call('POST', '/platform/batch', { ...as, body: { requests } });
    };
    const halves = [{ table: '_User' }, { actions: [updates({ password: 'Passw0rdOk' })] }];
    const ways: [how: string, send: (id: string) => Promise<{ error?: object }[]>][] = [
      ['in one batch', async (id) => (await inOneBatch(id, halves, { session })).body],
      ['in one batch, the other way round', async (id) => (await inOneBatch(id, halves.toReversed(), { session })).body],
      [
        'at once',
        async (id) => {
          const answers = await Promise.all(halves.map((body) => store.put('_Trigger', id, body, { session })));
          return answers.map(({ status, body }) => (status === 200 ? {} : { error: body }));
        },
      ],
    ];
    for (const [how, send] of ways)
      test(`and not what is forbidden in two halves that are allowed: ${how}`, async () => {
        const id = (await define({ actions: [mails('')] }, { session })).body.objectId;
        const refusals = (await send(id)).map(({ error }) => error).filter((error) => error !== undefined);
        assert.deepEqual(refusals, [denied('update', '_User')]);
        const { table: stored, actions } = await store.read('_Trigger', id);
        assert.ok(['_User e-mail', `${table} update-object`].includes(`${stored} ${actions[0].type}`));
      });

    test('changes of one batch all take effect, each judged with those before it', async () => {
      const yearly = { cron: '30 9 1 1 *', timezone: 'UTC' };
      const more = Array.from({ length: 10 }, (_, n) => ({ Name: `name ${n}` }));
      for (const as of [{ session }, {}]) {
        const definition = { events: ['schedule'], schedule: { cron: '0 0 1 7 *' }, actions: [mails('')] };
        const id = (await define(definition, as)).body.objectId;
        const answer = await inOneBatch(id, [{ schedule: yearly }, { Active: true }, ...more], as);
        const times = answer.body.map((one: { success?: { updatedAt: string } }) => one.success?.updatedAt);
        assert.equal(new Set(times).size, 12, answer.text);
        const { Active, schedule, nextRun, updatedAt } = await store.read('_Trigger', id);
        assert.deepEqual([Active, schedule], [true, yearly]);
        assert.match(nextRun.iso, /-01-01T09:30:00/);
        assert.equal(times.toSorted().at(-1), updatedAt);
      }
    });

    test('none of what was refused is stored', async () => {
      for (const [, more] of refused) await define({ ...more, Name: 'refused' }, { session });
      assert.deepEqual((await store.call('GET', path('_Trigger'), { query: { where: { Name: 'refused' } } })).body.results, []);
      for (const [, more] of refused) {
        const answer = await define(more, {});
        assert.equal(answer.status, 201, answer.text);
      }
    });

    test('keys may everything', async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const answer = await define({ table: '_User', actions: [updates({ job: 'clerk' }), creates('Nobodys')] }, { as });
        assert.equal(answer.status, 201, answer.text);
      }
    });

    test('a pattern in criteria that needs backtracking is refused', async () => {
      const error = 'Invalid trigger: criteria has a pattern with lookaround or back references, which may take for ever';
      for (const $regex of ['(?=a)b', '(a)\\1', '^(a+)+(?!b)$'])
        assertRefused(await define({ criteria: { $or: [{ Name: { $regex } }] }, actions: [mails('')] }, {}), {
          code: 107,
          error,
        });
      const answer = await define({ criteria: { Name: { $regex: '(a+)+$' } }, actions: [mails('')] }, {});
      assert.equal(answer.status, 201, answer.text);
    });
  });
