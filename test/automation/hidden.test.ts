/** `_TriggerQueue`, where the service keeps its jobs, is invisible to every caller. Reference: system-tables.md#hidden-tables. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertClean, assertRefused, type Json, path, pointer } from '../support/records.ts';
import type { Answer, CallOptions } from '../support/service.ts';
import { newRole, signUp } from '../support/users.ts';
import { creates, made, nothing, runsCode } from './effects.ts';
import { onAnyEngine } from './world.ts';

const hidden = '_TriggerQueue';

onAnyEngine((world) => {
  let session: string;
  before(async () => {
    const user = await signUp(world);
    await newRole(world, [user]);
    session = user.token;
  });
  const callers = (): CallOptions[] => [{ as: 'master' }, { as: 'apiKey' }, { session }, { as: 'anonymous' }];
  const refused = (answer: Answer, what: string) => {
    assert.deepEqual([answer.status, answer.body?.code], [400, 119], `${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    assertClean(answer);
  };
  /** While a row is in it; answers its objectId. */
  const whileWaiting = async (work: (id: string) => Promise<void>) => {
    const table = await world.place();
    await world.trigger({ table, events: ['create'], actions: [runsCode('hold')] });
    world.hold();
    await world.create(table, { Name: 'x' });
    const [{ objectId }] = (await world.queued()) as [Json];
    await work(objectId);
    assert.equal((await world.queued()).length, 1);
    world.release();
    await world.settle();
    assert.equal((await world.log({ event: 'create' })).at(-1)?.error, undefined);
  };

  test('records: every request is 119 whatever the credential', () =>
    whileWaiting(async (id) => {
      const one = path(hidden, id);
      for (const by of callers()) {
        refused(await world.call('GET', path(hidden), by), 'find');
        refused(await world.call('GET', path(hidden), { ...by, query: { limit: 0, count: 1 } }), 'count');
        refused(await world.call('GET', one, by), 'get');
        refused(await world.call('POST', path(hidden), { ...by, body: { kind: 'write' } }), 'create');
        refused(await world.call('PUT', one, { ...by, body: { owner: 'x' } }), 'update');
        refused(await world.call('PUT', one, { ...by, body: { New: 1 } }), 'addField');
        refused(await world.call('DELETE', one, by), 'delete');
        const query = { pipeline: [{ $count: 'n' }] };
        refused(await world.call('GET', `/platform/classes-aggregate/${hidden}`, { ...by, query }), 'aggregate');
      }
      const requests = [
        { method: 'POST', path: path(hidden), body: { kind: 'write' } },
        { method: 'PUT', path: one, body: { owner: 'x' } },
        { method: 'PUT', path: path(hidden, 'missing123'), body: { owner: 'x' } },
        { method: 'DELETE', path: one },
      ];
      const { body } = await world.call('POST', '/platform/batch', { body: { requests } });
      for (const item of body) assert.equal(item.error?.code, 119, JSON.stringify(item));
    }));

  test('schemas: it is in no list, unknown by name, and changed by nobody', async () => {
    for (const query of [{}, { withDictionary: 'true' }]) {
      const { body } = await world.call('GET', '/platform/schemas', { query });
      // 111 tables in a new system (tables.md).
      assert.equal(body.results.filter(({ className }: Json) => !/^T[0-9a-f]{10}$/.test(className)).length, 111);
      assert.equal(
        body.results.some(({ className }: Json) => className === hidden),
        false,
      );
    }
    for (const as of ['master', 'apiKey'] as const) {
      assertRefused(await world.call('GET', `/platform/schemas/${hidden}`, { as }), { code: 103 });
      for (const [method, body] of [
        ['PUT', { fields: { New: { type: 'String' } } }],
        ['PUT', { classLevelPermissions: { find: { '*': true } } }],
        ['POST', { className: hidden, fields: {} }],
        ['DELETE', undefined],
      ] as const) {
        const answer = await world.call(method, `/platform/schemas/${hidden}`, { as, body });
        assert.ok(answer.status >= 400 && answer.status < 500, `${method}: ${answer.status} ${answer.text}`);
      }
    }
  });

  test('not by way of another table: sub-queries, $relatedTo, include, templates', () =>
    whileWaiting(async (id) => {
      const other = await world.table({ S: 'String', P: { type: 'Pointer', targetClass: 'Tags' } });
      const wheres: object[] = [
        { S: { $select: { query: { className: hidden, where: {} }, key: 'record' } } },
        { S: { $dontSelect: { query: { className: hidden, where: {} }, key: 'record' } } },
        { P: { $inQuery: { className: hidden, where: {} } } },
        { $or: [{ S: 'x' }, { P: { $notInQuery: { className: hidden, where: {} } } }] },
        { $relatedTo: { object: pointer(hidden, id), key: 'R' } },
      ];
      for (const where of wheres)
        for (const by of callers().slice(0, 2))
          refused(await world.call('GET', path(other), { ...by, query: { where } }), JSON.stringify(where));
      const made = await world.post(other, { Q: pointer(hidden, id) });
      if (made.status !== 201) return assertClean(made);
      const { body } = await world.get(other, made.body.objectId, { query: { include: 'Q' } });
      assert.deepEqual(body.Q, pointer(hidden, id));
    }));

  test('decisions: no trigger watches it, writes to it or reads it', async () => {
    const table = await world.place();
    const before = (await world.find('_Trigger')).length;
    for (const [why, definition] of [
      ['watches', { table: hidden, events: ['create'], actions: [] }],
      ['writes', { table, events: ['create'], actions: [creates(hidden, { kind: 'write' })] }],
    ] as const) {
      const answer = await world.post('_Trigger', { Name: why, ...definition });
      assertRefused(answer, { code: 107, error: /^Invalid trigger: / });
      assert.deepEqual(answer.body.code, 107);
    }
    const criteria = { Name: { $select: { query: { className: hidden, where: {} }, key: 'record' } } };
    const reads = await world.post('_Trigger', { Name: 'reads', table, events: ['create'], criteria, actions: [] });
    assert.equal(reads.status, 400, reads.text);
    assert.equal((await world.find('_Trigger')).length, before);
    await world.effects(() => world.create(table, {}), made(table), nothing);
  });

  test('a function of the operator does not reach it either', async () => {
    const answer = await world.send('writes', { body: { table: hidden } });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.error, /Permission denied/);
  });
}, 'apart');
