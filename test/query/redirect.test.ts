/**
 * `$relatedTo` and `redirectClassNameForKey`, in the requests that Parse's JavaScript SDK sends for a relation's query. Reference:
 * queries.md#relations.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, create, defineTable, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { signUp } from '../support/users.ts';

onEachEngine((get) => {
  const owners = tableName('Owner');
  const members = tableName('Member');
  const locked = tableName('Locked');
  const open = { find: { '*': true }, get: { '*': true }, count: { '*': true } };
  let owner = '';
  let secret = '';
  let session = '';
  before(async () => {
    const protectedFields = { '*': ['hidden'] };
    await defineTable(get(), members, { n: 'Number', of: 'String' }, { classLevelPermissions: open });
    await defineTable(get(), locked, { n: 'Number' });
    await defineTable(
      get(),
      owners,
      { kids: `Relation:${members}`, hidden: `Relation:${members}`, locks: `Relation:${locked}`, n: 'Number' },
      { classLevelPermissions: { ...open, protectedFields } },
    );
    const ids = [];
    for (const n of [1, 2, 3]) ids.push(await create(get(), members, { n, of: 'x' }));
    const lock = await create(get(), locked, { n: 9 });
    const add = (table: string, objectIds: readonly string[]) => ({
      __op: 'AddRelation',
      objects: objectIds.map((id) => pointer(table, id)),
    });
    const fields = { kids: add(members, ids.slice(0, 2)), hidden: add(members, ids), locks: add(locked, [lock]) };
    owner = await create(get(), owners, fields);
    secret = await create(get(), owners, { ...fields, ACL: { 'role:Nobody': { read: true } } });
    ({ token: session } = await signUp(get()));
  });

  /** Sends a query as the SDK does: everything in the body. */
  const ask = (className: string, body: Row, as: 'key' | 'user' | 'anonymous' = 'key') => {
    const caller = as === 'key' ? { _MasterKey: get().masterKey } : as === 'user' ? { _SessionToken: session } : {};
    const about = { _method: 'GET', _ApplicationId: get().appId, _ClientVersion: 'js5.3.0', _InstallationId: 'i-1', ...caller };
    return get().call('POST', `/platform/classes/${className}`, {
      as: 'anonymous',
      headers: { 'Content-Type': 'text/plain' },
      body: JSON.stringify({ ...body, ...about }),
    });
  };
  const relatedTo = (key: string, id = owner) => ({ $relatedTo: { object: pointer(owners, id), key } });
  const numbers = (answer: { body: { results: Row[] } }) => answer.body.results.map(({ n }) => n);

  test('of a parent that was fetched: the query goes to the class of the members', async () => {
    for (const as of ['key', 'user'] as const) {
      const answer = await ask(members, { where: relatedTo('kids') }, as);
      assert.deepEqual(numbers(answer), [1, 2], answer.text);
      assert.equal('className' in answer.body || 'className' in answer.body.results[0], false);
    }
  });

  test('of a parent that was not: the class comes with the answer and with each record', async () => {
    for (const as of ['key', 'user'] as const) {
      const answer = await ask(owners, { where: relatedTo('kids'), redirectClassNameForKey: 'kids' }, as);
      assert.deepEqual(numbers(answer), [1, 2], answer.text);
      assert.equal(answer.body.className, members);
      assert.deepEqual([...new Set(answer.body.results.map(({ className }: Row) => className))], [members]);
    }
    const first = await ask(owners, {
      where: { ...relatedTo('kids'), n: 2 },
      redirectClassNameForKey: 'kids',
      limit: 1,
      keys: 'n',
    });
    assert.deepEqual([numbers(first), first.body.results[0].className, 'of' in first.body.results[0]], [[2], members, false]);
    const count = await ask(owners, { where: relatedTo('kids'), redirectClassNameForKey: 'kids', limit: 0, count: 1 });
    assert.deepEqual(count.body, { results: [], className: members, count: 2 });
    const asAddress = await get().call('GET', `/platform/classes/${owners}`, {
      query: { where: relatedTo('kids'), redirectClassNameForKey: 'kids', order: '-n', include: '*' },
    });
    assert.deepEqual([numbers(asAddress), asAddress.body.className], [[2, 1], members]);
  });

  test('in a sub-query of another query', async () => {
    const query = { where: relatedTo('kids'), redirectClassNameForKey: 'kids', className: owners };
    const answer = await ask(members, { where: { n: { $select: { key: 'n', query } } } });
    assert.deepEqual(numbers(answer), [1, 2], answer.text);
    assertError(
      await ask(members, { where: { n: { $select: { key: 'n', query: { ...query, redirectClassNameForKey: 5 } } } } }),
      400,
      102,
    );
  });

  test('a key that is no Relation leads nowhere else; a class that is not there has no records', async () => {
    for (const key of ['n', 'nope', 'kids.x', '']) {
      const answer = await ask(owners, { where: { objectId: owner }, redirectClassNameForKey: key });
      assert.deepEqual(
        answer.body.results.map(({ objectId }: Row) => objectId),
        [owner],
        answer.text,
      );
    }
    assert.deepEqual((await ask('NoSuchOwner', { where: {}, redirectClassNameForKey: 'kids' })).body, { results: [] });
    for (const key of [5, ['kids'], {}]) assertError(await ask(owners, { redirectClassNameForKey: key }), 400, 102);
    assertError(await ask(owners, { redirectClassNameForKey: 'kids', distinct: 'n' }), 400, 102, /distinct/);
    assertError(await ask(owners, { redirectClassNameForKey: '$x' }), 400, 105);
  });

  test('no caller reads more than it may', async () => {
    const of = (key: string, id: string, as: 'user' | 'anonymous') =>
      ask(owners, { where: relatedTo(key, id), redirectClassNameForKey: key }, as);
    assert.deepEqual(numbers(await of('kids', secret, 'user')), [], 'the caller may not read the parent');
    assert.deepEqual(numbers(await ask(owners, { where: relatedTo('kids', secret), redirectClassNameForKey: 'kids' })), [1, 2]);
    assertError(await of('hidden', owner, 'user'), 400, 119, /hidden/);
    assertError(await of('locks', owner, 'user'), 400, 119, `Permission denied for action find on class ${locked}`);
    assertError(await of('locks', owner, 'anonymous'), 400, 119);
  });
});
