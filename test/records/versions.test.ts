/** ETags of records, and reads of what the client has already. Reference: records.md#versions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { path, pointer, unique, useStore } from '../support/records.ts';
import { type Answer, type CallOptions, engines } from '../support/service.ts';
import { login, password, signUp } from '../support/users.ts';

const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? '';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const schema = (table: string, body: object) => store.call('PUT', `/platform/schemas/${table}`, { body });
    /** Reads a record with the ETag of an earlier read. */
    const again = (table: string, id: string, tag: string, options: CallOptions = {}) =>
      store.get(table, id, { ...options, headers: { 'If-None-Match': tag } });

    test('create, read, update and HEAD answer one strong ETag, which each write changes', async () => {
      const table = await store.table({ A: 'Number' });
      const created = await store.post(table, { A: 1 });
      const { objectId } = created.body;
      assert.match(tagOf(created), /^"[0-9a-z]+\.[\w-]{11}"$/);
      assert.equal(tagOf(await store.get(table, objectId)), tagOf(created));
      assert.equal(tagOf(await store.call('HEAD', path(table, objectId))), tagOf(created));
      const updated = await store.put(table, objectId, { A: 1 });
      assert.notEqual(tagOf(updated), tagOf(created));
      assert.equal(tagOf(await store.get(table, objectId)), tagOf(updated));
      assert.equal((await store.get(table, objectId)).body.updatedAt, updated.body.updatedAt);
    });

    test('200 updates at once have 200 versions, and each answers its own', async () => {
      const table = await store.table({ A: 'Number', L: 'Array', O: 'Object' });
      const id = await store.create(table, { L: [] });
      const bodies = [
        { A: { __op: 'Increment', amount: 1 } },
        { L: { __op: 'AddUnique', objects: ['a'] } },
        { 'O.n': 1 },
        { A: 7 },
      ];
      for (const body of bodies) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => store.put(table, id, body)));
        assert.equal(new Set(answers.map(tagOf)).size, 50, JSON.stringify(body));
        assert.equal(new Set(answers.map((one) => one.body.updatedAt)).size, 50);
        const last = answers
          .map((one) => one.body.updatedAt)
          .sort()
          .at(-1);
        assert.equal((await store.read(table, id)).updatedAt, last);
      }
    });

    test('If-None-Match on a read: 304 without a body while the record is the same', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, { A: 1 });
      const tag = tagOf(await store.get(table, id));
      for (const value of [tag, `"x", ${tag}`, `W/${tag}`, '*']) {
        const answer = await again(table, id, value);
        assert.deepEqual([answer.status, answer.text, tagOf(answer)], [304, '', tag], value);
        assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
      }
      assert.equal((await store.call('HEAD', path(table, id), { headers: { 'If-None-Match': tag } })).status, 304);
      for (const value of ['"x"', 'x', '', tag.slice(1), '"1"']) assert.equal((await again(table, id, value)).status, 200, value);
      await store.update(table, id, { A: 1 });
      assert.equal((await again(table, id, tag)).status, 200);
    });

    test('a read is no 304 after a change of the schema: a field added, dropped, dropped and added again', async () => {
      const table = await store.table({ A: 'Number', B: 'Number' });
      const id = await store.create(table, { A: 1, B: 2 });
      const reread = async (changes: readonly object[], expected: object) => {
        const tag = tagOf(await store.get(table, id));
        for (const fields of changes) assert.equal((await schema(table, { fields })).status, 200);
        const answer = await again(table, id, tag);
        assert.equal(answer.status, 200);
        const { A, B, R } = answer.body;
        assert.deepEqual({ A, B, R }, { A: undefined, B: undefined, R: undefined, ...expected });
      };
      const R = { __type: 'Relation', className: '_Role' };
      await reread([{ R: { type: 'Relation', targetClass: '_Role' } }], { A: 1, B: 2, R });
      await reread([{ B: { __op: 'Delete' } }, { B: { type: 'Number' } }], { A: 1, R });
      await reread([{ A: { __op: 'Delete' } }], { R });
    });

    test('a read is no 304 for another caller, nor after a change of what the caller may see', async () => {
      const table = await store.table({ A: 'Number', Owner: { type: 'Pointer', targetClass: '_User' } });
      const [first, second] = [await signUp(store), await signUp(store)];
      const permissions = { get: { '*': true }, protectedFields: { '*': ['A'], 'userField:Owner': [] } };
      await schema(table, { classLevelPermissions: permissions });
      const id = await store.create(table, { A: 1, Owner: pointer('_User', first.id) });
      const of = (user: { token: string }) => ({ session: user.token });
      const whole = await store.get(table, id, of(first));
      assert.equal(whole.body.A, 1);
      assert.equal((await again(table, id, tagOf(whole), of(first))).status, 304);
      const masked = await again(table, id, tagOf(whole), of(second));
      assert.deepEqual([masked.status, masked.body.A], [200, undefined]);
      await schema(table, { classLevelPermissions: { ...permissions, protectedFields: { '*': ['A'] } } });
      const hidden = await again(table, id, tagOf(whole), of(first));
      assert.deepEqual([hidden.status, hidden.body.A], [200, undefined]);
      await schema(table, { classLevelPermissions: { get: {} } });
      assert.equal((await again(table, id, tagOf(hidden), of(first))).status, 400);
    });

    test('a read with `keys` has an ETag of its own; one with `include` has one and is never 304', async () => {
      const target = await store.table({ N: 'Number' });
      const table = await store.table({ A: 'Number', B: 'Number', To: { type: 'Pointer', targetClass: target } });
      const to = await store.create(target, { N: 1 });
      const id = await store.create(table, { A: 1, B: 2, To: pointer(target, to) });
      const whole = tagOf(await store.get(table, id));
      const query = { keys: 'A' };
      const some = tagOf(await store.get(table, id, { query }));
      assert.notEqual(some, whole);
      assert.equal((await again(table, id, some, { query })).status, 304);
      assert.equal((await again(table, id, whole, { query })).status, 200);
      const including = { query: { include: 'To' } };
      const expanded = await store.get(table, id, including);
      assert.match(tagOf(expanded), /^"[0-9a-z]+"$/);
      for (const value of [tagOf(expanded), whole, '*'])
        assert.equal((await again(table, id, value, including)).status, 200, value);
      // Each of them names the version in a precondition.
      for (const tag of [some, whole, tagOf(expanded)]) {
        const { status } = await store.put(
          table,
          id,
          { A: 1 },
          { headers: { 'If-Match': `${tag}, ${tagOf(await store.get(table, id))}` } },
        );
        assert.equal(status, 200);
      }
    });

    test('a user: what a login changes without a new version is no 304', async () => {
      const user = await signUp(store);
      const at = `/platform/users/${user.id}`;
      const tag = tagOf(await store.call('GET', at));
      assert.equal((await store.call('GET', at, { headers: { 'If-None-Match': tag } })).status, 304);
      assert.equal((await login(store, { username: user.username, password })).status, 200);
      const after = await store.call('GET', at, { headers: { 'If-None-Match': tag } });
      assert.equal(after.status, 200);
      assert.ok(after.body.last_success_login);
      assert.equal((await store.call('PUT', at, { body: { job: 'x' }, headers: { 'If-Match': tag } })).status, 200);
    });

    test('a large record, which is streamed, has an ETag and is 304', async () => {
      const table = await store.table({ T: 'String' });
      const id = await store.create(table, { T: 'x'.repeat(3_000_000) });
      const first = await store.get(table, id);
      assert.equal(first.body.T.length, 3_000_000);
      const answer = await again(table, id, tagOf(first));
      assert.deepEqual([answer.status, answer.text], [304, '']);
    });

    test('answers expose ETag to browsers; preflights allow the headers of conditional writes', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, { A: 1, [unique('F')]: 1 });
      const headers = { Origin: 'https://example.com' };
      const { headers: shown } = await store.get(table, id, { headers });
      assert.match(shown.get('access-control-expose-headers') ?? '', /\bETag\b/);
      const preflight = await store.call('OPTIONS', path(table, id), {
        headers: { ...headers, 'Access-Control-Request-Method': 'PUT' },
      });
      const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/);
      for (const name of ['if-match', 'if-none-match', 'idempotency-key']) assert.ok(allowed.includes(name), String(allowed));
    });
  });
