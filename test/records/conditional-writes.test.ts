/** `If-Match` and `If-None-Match` on writes. Reference: records.md#conditional-writes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countRows } from '../audit/rows.ts';
import { assertRefused, type Json, path, unique, useStore } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { signUp } from '../support/users.ts';

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));
const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? '';

/** ETags that no record has now: weak, unquoted, malformed, of another server. */
const notMatching = (tag: string): [string, string][] => [
  ['another version', '"1a.zzzzzzzzzzz"'],
  ['a weak ETag', `W/${tag}`],
  ['no quotes', tag.slice(1, -1)],
  ['one quote', tag.slice(1)],
  ['an ETag of another server', '"33a64df551425fcc55e4d42a148795d9f25f89d4"'],
  ['text', 'anything'],
  ['`*` in quotes', '"*"'],
  ['a list with a member that is no ETag', `${tag}, x`],
  ['an empty ETag', '""'],
  ['nothing', ''],
  ['a number that is not written as we do', `"0${tag.slice(1)}`],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const put = (table: string, id: string, body: object, headers: Record<string, string>) =>
      store.put(table, id, body, { headers });
    const made = async (fields: Json = { A: 1 }) => {
      const table = await store.table({ A: 'Number', L: 'Array' });
      const id = await store.create(table, fields);
      return { table, id, tag: tagOf(await store.get(table, id)) };
    };
    const refusedAsChanged = async (answer: Answer, table: string, id: string) => {
      const present = await store.get(table, id);
      assert.equal(answer.status, 412, answer.text);
      const { updatedAt } = present.body;
      assert.deepEqual(answer.body, { code: 409, error: 'The record has changed meanwhile.', updatedAt });
      assert.equal(tagOf(answer), tagOf(present));
    };

    test('If-Match with the present ETag: the update is made and answers the new one', async () => {
      const { table, id, tag } = await made();
      const answer = await put(table, id, { A: 2 }, { 'If-Match': tag });
      assert.equal(answer.status, 200, answer.text);
      assert.notEqual(tagOf(answer), tag);
      assert.equal(tagOf(await store.get(table, id)), tagOf(answer));
      assert.equal((await put(table, id, { A: 3 }, { 'If-Match': tagOf(answer) })).status, 200);
    });

    test('If-Match that is outdated: 412 with updatedAt and the present ETag, and nothing is written', async () => {
      const { table, id, tag } = await made();
      await store.update(table, id, { A: 2 });
      const before = await store.snapshot(table);
      await refusedAsChanged(await put(table, id, { A: 3, New: 1 }, { 'If-Match': tag }), table, id);
      await refusedAsChanged(await store.remove(table, id, { headers: { 'If-Match': tag } }), table, id);
      assert.equal(await store.snapshot(table), before);
    });

    test('If-Match: anything that is no strong ETag of the record is 412', async () => {
      const { table, id, tag } = await made();
      for (const [what, value] of notMatching(tag)) {
        const answer = await put(table, id, { A: 2 }, { 'If-Match': value });
        assert.equal(answer.status, 412, `${what}: ${answer.text}`);
        assert.equal((await store.remove(table, id, { headers: { 'If-Match': value } })).status, 412, what);
      }
      assert.equal((await store.read(table, id)).A, 1);
    });

    test('If-Match: a list holds the present ETag, `*` means any version; a delete too', async () => {
      const { table, id, tag } = await made();
      assert.equal((await put(table, id, { A: 2 }, { 'If-Match': `"zz", ${tag} ,W/"x"` })).status, 200);
      assert.equal((await put(table, id, { A: 3 }, { 'If-Match': '*' })).status, 200);
      const now = tagOf(await store.get(table, id));
      assert.equal((await store.remove(table, id, { headers: { 'If-Match': `"a,b", ${now}` } })).status, 200);
      assertRefused(await store.get(table, id), { code: 101 });
    });

    test('a record that does not exist stays 404, whatever the precondition', async () => {
      const { table, tag } = await made();
      for (const value of [tag, '*', 'W/"x"']) {
        assertRefused(await put(table, 'nobody0000', { A: 2 }, { 'If-Match': value }), { code: 101 });
        assertRefused(await store.remove(table, 'nobody0000', { headers: { 'If-Match': value } }), { code: 101 });
        assertRefused(await put(unique('None'), 'nobody0000', {}, { 'If-Match': value }), { code: 101 });
      }
    });

    test('a record that is hidden from the caller stays 404; a missing right stays 119', async () => {
      const user = await signUp(store);
      const { table, tag } = await made();
      const closed = await store.create(table, { A: 1, ACL: { nobody: { read: true } } });
      const as = { session: user.token, headers: { 'If-Match': '"1"' } };
      assertRefused(await store.put(table, closed, { A: 2 }, as), { code: 119 });
      const permissions = { get: { '*': true }, update: { '*': true }, delete: { '*': true } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: permissions } });
      assertRefused(await store.put(table, closed, { A: 2 }, as), { code: 101 });
      assertRefused(await store.remove(table, closed, as), { code: 101 });
      // The caller may read it, and not write it.
      const readable = await store.create(table, { A: 1, ACL: { '*': { read: true } } });
      assertRefused(await store.put(table, readable, { A: 2 }, as), { code: 101 });
      // The caller may write it, and not read it: no date, no ETag.
      const writable = await store.create(table, { A: 1, ACL: { '*': { write: true } } });
      const refused = await store.put(table, writable, { A: 2 }, as);
      assert.deepEqual([refused.status, refused.body], [412, { code: 409, error: 'The record has changed meanwhile.' }]);
      assert.equal(refused.headers.get('etag'), null);
      assert.ok(tag);
    });

    test('40 writers with one ETag: one wins, and all others are 412', async () => {
      const { table, id, tag } = await made({ A: 0, L: [] });
      for (const body of [{ A: { __op: 'Increment', amount: 1 } }, { L: { __op: 'Add', objects: ['x'] } }]) {
        const present = tagOf(await store.get(table, id));
        const answers = await times(40, () => put(table, id, body, { 'If-Match': present }));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(39).fill(412)]);
      }
      const { A, L } = await store.read(table, id);
      assert.deepEqual([A, L], [1, ['x']]);
      assert.ok(tag);
    });

    test('updates and deletes with one ETag: one wins', async () => {
      const { table, id, tag } = await made();
      const headers = { 'If-Match': tag };
      const answers = await times(10, (n) => (n % 2 ? put(table, id, { A: n }, headers) : store.remove(table, id, { headers })));
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
      for (const status of statuses) assert.ok([200, 404, 412].includes(status), String(status));
    });

    test('a chain of updates, each with the ETag that the one before answered', async () => {
      const { table, id, tag } = await made({ A: 0 });
      let last = tag;
      const tags = new Set<string>();
      for (let n = 0; n < 50; n++) {
        const answer = await put(table, id, { A: { __op: 'Increment', amount: 1 } }, { 'If-Match': last });
        assert.equal(answer.status, 200, answer.text);
        last = tagOf(answer);
        tags.add(last);
      }
      assert.equal(tags.size, 50);
      assert.equal((await store.read(table, id)).A, 50);
    });

    test('If-None-Match: `*` makes a record with a new objectId, and is 412 for one that is taken', async () => {
      const { table, id, tag } = await made();
      const isNew = { headers: { 'If-None-Match': '*' } };
      const own = unique('own');
      const answer = await store.post(table, { A: 1, objectId: own }, isNew);
      assert.deepEqual([answer.status, answer.body.objectId], [201, own]);
      assert.equal((await store.post(table, { A: 1 }, isNew)).status, 201);
      const before = await store.snapshot(table);
      const taken = await store.post(table, { A: 9, objectId: id }, isNew);
      const { updatedAt } = await store.read(table, id);
      assert.deepEqual([taken.status, taken.body], [412, { code: 409, error: 'The record exists already.', updatedAt }]);
      assert.equal(tagOf(taken), tag);
      assertRefused(await store.post(table, { A: 9, objectId: id }), { code: 137 });
      assert.equal((await store.post(table, { A: 9 }, { headers: { 'If-None-Match': 'W/"x"' } })).status, 412);
      assert.equal((await store.post(table, { A: 9 }, { headers: { 'If-None-Match': 'x' } })).status, 412);
      assert.equal(await store.snapshot(table), before);
    });

    test('If-None-Match: of 20 creates of one objectId one is made', async () => {
      const { table } = await made();
      const objectId = unique('own');
      const answers = await times(20, (n) => store.post(table, { A: n, objectId }, { headers: { 'If-None-Match': '*' } }));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(412)]);
    });

    test('If-None-Match on an update or delete: refused if the record has the version', async () => {
      const { table, id, tag } = await made();
      for (const value of ['*', tag, `"1", ${tag}`])
        await refusedAsChanged(await put(table, id, { A: 2 }, { 'If-None-Match': value }), table, id);
      assert.equal((await put(table, id, { A: 2 }, { 'If-None-Match': '"1"' })).status, 200);
      assertRefused(await put(table, 'nobody0000', { A: 2 }, { 'If-None-Match': '*' }), { code: 101 });
    });

    test('users and roles: their rules and a precondition hold together', async () => {
      const user = await signUp(store);
      const role = await store.create('_Role', { name: unique('R'), ACL: {} });
      for (const [className, id, alias] of [
        ['_User', user.id, `/platform/users/${user.id}`],
        ['_Role', role, `/platform/roles/${role}`],
      ] as const) {
        const tag = tagOf(await store.call('GET', alias));
        const body = className === '_User' ? { job: 'a' } : { users: { __op: 'AddRelation', objects: [] } };
        const done = await store.call('PUT', alias, { body, headers: { 'If-Match': tag } });
        assert.equal(done.status, 200, done.text);
        const stale = await store.call('PUT', alias, { body, headers: { 'If-Match': tag } });
        assert.equal(stale.status, 412, stale.text);
        assert.equal((await store.call('PUT', path(className, id), { body, headers: { 'If-Match': tagOf(done) } })).status, 200);
        assert.equal((await store.call('DELETE', alias, { headers: { 'If-Match': tag } })).status, 412);
        assert.equal((await store.call('DELETE', alias, { headers: { 'If-Match': tagOf(stale) } })).status, 412);
      }
    });

    test('a refused write leaves no row of the timeline; one that is made leaves one', async () => {
      const id = await store.create('Tasks', { Name: 'a' });
      const of = { objectClass: 'Tasks', objectIdValue: id };
      const tag = tagOf(await store.get('Tasks', id));
      assert.equal(await countRows(store, of), 1);
      assert.equal((await put('Tasks', id, { Name: 'b' }, { 'If-Match': '"1"' })).status, 412);
      assert.equal(await countRows(store, of), 1);
      assert.equal((await put('Tasks', id, { Name: 'b' }, { 'If-Match': tag })).status, 200);
      assert.equal(await countRows(store, of), 2);
    });

    test('a POST with `_method` PUT or DELETE takes the precondition, too', async () => {
      const { table, id } = await made();
      const headers = { 'If-Match': '"1"' };
      for (const _method of ['PUT', 'DELETE'])
        assert.equal((await store.call('POST', path(table, id), { body: { A: 2, _method }, headers })).status, 412);
    });
  });
