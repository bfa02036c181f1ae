/** `protectedFields`: a hidden value has no effect on any answer, and its field cannot be named. Reference: permissions.md#protected-fields. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  assertDone,
  assertRefused,
  type Caller,
  fieldDenied,
  forAll,
  makeTable,
  newCaller,
  type Rules,
  setRules,
} from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { type CallOptions, type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { type Asked, aggregate, elsewhere, inTable, naming, openQuestions, path, R, T } from './naming.ts';
import { putBackRules } from './rules.ts';
import { batch, createAll } from './world.ts';

const hidden = ['pay', 'note', 'more', 'list', 'boss', 'rel', 'paid', 'since'];
const fields = {
  ...{ name: 'String', owner: 'Pointer:_User', team: 'Array', pay: 'Number', note: 'String', more: 'Object', list: 'Array' },
  ...{ boss: `Pointer:${T}`, rel: `Relation:${T}`, paid: 'Boolean', since: 'Date' },
};
const open: Rules = forAll({ requiresAuthentication: true });
const protect = (lists: Record<string, string[]>): Rules => ({ ...open, protectedFields: lists });

/** Hidden values of one record, different for each step. */
const values = (at: number): Json => ({
  ...{
    pay: at * 10,
    note: `secret ${at}`,
    more: { a: at },
    paid: at % 2 === 0,
    since: { __type: 'Date', iso: `202${at}-01-01T00:00:00.000Z` },
  },
  ...{ list: [pointer(T, at % 2 === 0 ? 'one' : 'two')], boss: pointer(T, at % 2 === 0 ? 'two' : 'gone') },
  rel: { __op: at % 2 === 0 ? 'AddRelation' : 'RemoveRelation', objects: [pointer(T, 'two')] },
});

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service | undefined;
    let caller: Caller;
    const call = (method: string, at: string, options: CallOptions = {}) => (service as Service).call(method, at, options);
    const asCaller = ([method, at, query, body]: Asked) => call(method, at, { ...caller.options, query, body });
    const get = async (at: string, query: Record<string, unknown> = {}) =>
      assertDone(await asCaller(['GET', at, query]), 200, at);
    const rules = (lists: Record<string, string[]>) => setRules(service as Service, T, protect(lists));
    /** Returns the names of the hidden fields that a record shows. */
    const shown = (record: Json) => hidden.filter((name) => name in record).sort();
    const all = [...hidden].sort();

    before(async () => {
      service = await sharedService(engine);
      caller = await newCaller(service);
      const other = await newCaller(service);
      await makeTable(service, T, fields, open);
      await makeTable(
        service,
        R,
        { about: `Pointer:${T}`, many: 'Array', text: 'String' },
        forAll({ '*': true }, ['find', 'get']),
      );
      const mine = pointer('_User', caller.id);
      await createAll(service, T, [
        { objectId: 'one', name: 'one', owner: pointer('_User', other.id), ...values(2) },
        { objectId: 'two', name: 'two', owner: mine, ...values(2) },
        { objectId: 'three', name: 'three', team: [pointer('_User', other.id), mine], ...values(2) },
      ]);
      const about = ['one', 'two', 'three'].map((id) => pointer(T, id));
      await createAll(
        service,
        R,
        about.map((to) => ({ about: to, many: about, text: to.objectId })),
      );
    });
    putBackRules(() => service as Service, ['_User']);

    test('what hidden fields hold changes no answer', async () => {
      await rules({ '*': hidden });
      const ask = async () => {
        const answers = await Promise.all(openQuestions.map(asCaller));
        // A write changes updatedAt, which is not hidden.
        return answers.map(({ status, text }) => `${status} ${text.replaceAll(/"updatedAt":"[^"]+"/g, '')}`);
      };
      const first = await ask();
      for (const answer of first) assert.match(answer, /^200 /);
      for (const at of [3, 4, 5]) {
        await batch(
          service as Service,
          ['one', 'two', 'three'].map((id) => ({ method: 'PUT', path: `${path}/${id}`, body: values(at) })),
        );
        (await ask()).forEach((answer, n) => void assert.equal(answer, first[n], JSON.stringify(openQuestions[n])));
      }
    });

    test('a hidden field cannot be named anywhere', async () => {
      await rules({ '*': hidden });
      const before = (await call('GET', path)).text + (await call('GET', `/platform/schemas/${T}`)).text;
      for (const f of hidden)
        await Promise.all(
          naming(f).map(async (asked) => {
            const answer = await asCaller(asked);
            assert.deepEqual([answer.status, answer.body.code], [400, 119], `${JSON.stringify(asked)} ${answer.text}`);
            assert.match(answer.body.error, new RegExp(`^This user is not allowed to access ${f}(\\.a|\\.name)? on class ${T}$`));
          }),
        );
      assert.equal((await call('GET', path)).text + (await call('GET', `/platform/schemas/${T}`)).text, before);
    });

    test('nor by the names that Parse stores it under', async () => {
      await rules({ '*': hidden });
      for (const pipeline of [
        [{ $group: { _id: '$_p_boss' } }],
        [{ $match: { _p_boss: `${T}$two` } }],
        [{ $sort: { _p_boss: 1 } }],
      ])
        assertRefused(await asCaller(['GET', aggregate, { pipeline }]), fieldDenied('boss', T), JSON.stringify(pipeline));
    });

    test('$text is refused where it searches a hidden field', async () => {
      await call('PUT', `/platform/schemas/${T}`, { body: { textIndex: ['name', 'note'] } });
      await rules({ '*': ['note'] });
      const where = { name: { $text: { $search: { $term: 'secret' } } } };
      for (const asked of [
        ['GET', path, { where }],
        ['GET', elsewhere, { where: inTable(where) }],
      ] as Asked[])
        assertRefused(await asCaller(asked), fieldDenied('note', T), '$text');
      await rules({ '*': ['pay'] });
      assert.equal((await get(path, { where })).results.length, 3);
      await call('PUT', `/platform/schemas/${T}`, { body: { textIndex: [] } });
    });

    test('shown in the records that hold the caller, alone, by every path that reads them', async () => {
      for (const [lists, mine] of [
        [{ '*': hidden, 'userField:owner': [] }, ['two']],
        [{ '*': hidden, 'userField:team': [] }, ['three']],
        [{ authenticated: hidden, 'userField:owner': ['rel'], 'userField:team': [] }, ['two', 'three']],
      ] as [Record<string, string[]>, string[]][]) {
        await rules(lists);
        const hides = (name: string) =>
          mine.includes(name) ? all.filter((f) => !lists['userField:owner']?.includes(f) || name === 'three') : [];
        const { results } = await get(path);
        for (const record of results) {
          assert.deepEqual(shown(record), hides(record.name), `list ${record.name}`);
          assert.deepEqual(await get(`${path}/${record.name}`), record, 'read one');
        }
        for (const record of (await get(path, { keys: 'name,pay,more.a' })).results)
          assert.deepEqual(
            shown(record),
            hides(record.name).filter((f) => f === 'pay' || f === 'more'),
            `keys ${record.name}`,
          );
        // Long lists are read by reader threads.
        for (const limit of [100, 1000])
          for (const { about, many } of (await get(elsewhere, { include: 'about,many', limit })).results)
            for (const record of [about, ...many]) assert.deepEqual(shown(record), hides(record.name), `include ${record.name}`);
        for (const record of (await get(path, { include: 'boss,list' })).results) {
          assert.deepEqual(shown(record), hides(record.name), `include from ${record.name}`);
          if ('boss' in record)
            assert.ok(record.boss.__type === 'Pointer' || !mine.includes(record.boss.name) || record.boss.pay);
          for (const one of record.list ?? []) assert.deepEqual(shown(one), hides(one.name), 'include of an array');
        }
        for (const asked of naming('pay').filter(([, , query]) => !('keys' in query) && !('include' in query)))
          assert.equal((await asCaller(asked)).body.code, 119, JSON.stringify(asked));
      }
    });

    test('a list of users in records hides from them where no other list speaks', async () => {
      await rules({ 'userField:owner': ['pay'] });
      for (const record of (await get(path)).results) assert.equal('pay' in record, record.name !== 'two', record.name);
      assertRefused(await asCaller(['GET', path, { order: 'pay' }]), fieldDenied('pay', T), 'order');
    });

    test('of several lists that speak of a caller only what each hides is hidden', async () => {
      await rules({ '*': ['pay', 'note'], authenticated: ['note', 'more'], [caller.id]: ['note', 'pay', 'paid'] });
      for (const record of (await get(path)).results)
        assert.deepEqual(
          shown(record),
          all.filter((f) => f !== 'note'),
        );
    });

    test('keys see everything', async () => {
      await rules({ '*': hidden, authenticated: hidden });
      for (const as of ['master', 'apiKey'] as const) {
        const { body } = await call('GET', path, { as, query: { where: { pay: { $gt: 0 } }, order: 'pay' } });
        assert.deepEqual(body.results.map(shown), [all, all, all]);
      }
    });

    test('lists do not apply to the caller’s own record of `_User`, and do apply for others', async () => {
      const users = { ...forAll({ requiresAuthentication: true }, ['find', 'get']), protectedFields: { '*': ['email', 'name'] } };
      await setRules(service as Service, '_User', users);
      const other = await newCaller(service as Service);
      for (const id of [caller.id, other.id])
        assertDone(await call('PUT', `/platform/users/${id}`, { body: { email: `${id}@example.com`, name: id } }), 200, 'user');
      const names = (record: Json) => ['email', 'name'].filter((name) => name in record);
      for (const record of (await get('/platform/users')).results)
        assert.equal(names(record).length, record.objectId === caller.id ? 2 : 0, record.objectId);
      assert.deepEqual(names(await get(`/platform/classes/_User/${caller.id}`)), ['email', 'name']);
      assert.deepEqual(names(await get(`/platform/classes/_User/${other.id}`)), []);
      for (const { name, owner, team } of (await get(path, { include: 'owner,team' })).results)
        for (const user of [owner ?? [], team ?? []].flat())
          assert.equal(names(user).length, user.objectId === caller.id ? 2 : 0, name);
      for (const where of [{ email: `${other.id}@example.com` }, { email: `${caller.id}@example.com` }])
        assertRefused(await asCaller(['GET', '/platform/users', { where }]), fieldDenied('email', '_User'), 'where');
    });
  });
