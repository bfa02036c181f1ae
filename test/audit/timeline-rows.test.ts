/** Index columns and `Last` of `_Timeline`; the delete guard; many concurrent writes. Reference: audit.md#timeline, system-tables.md#_timeline. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, path, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { signUp, userPointer } from '../support/users.ts';
import { countRows, on, rowOf, rowsOf, timelineOf, tracked } from './rows.ts';

const account = { type: 'Pointer', targetClass: 'Accounts' };
const lasts = (rows: Json[]) => rows.map(({ Last }) => Last);
/** False in all rows but the newest. */
const onlyNewest = (rows: Json[]) => rows.map((_, at) => at === rows.length - 1);

for (const engine of engines)
  describe(`timeline rows (${engine})`, () => {
    const store = useStore(engine);
    const newAccount = (fields: object = {}) => store.create('Accounts', { Name: 'a', ...fields });

    test('index columns: the Pointers that the table shares, as the record has them after the write', async () => {
      const [first, second] = [await newAccount(), await newAccount()];
      const id = await store.create('Notes', { Name: 'n', AccountId: pointer('Accounts', first) });
      await store.update('Notes', id, { Name: 'm' });
      await store.update('Notes', id, { AccountId: pointer('Accounts', second) });
      await store.update('Notes', id, { Name: 'o' });
      await store.update('Notes', id, { AccountId: null });
      await store.update('Notes', id, { Name: 'p' });
      await store.remove('Notes', id);
      assert.deepEqual(
        (await rowsOf(store, 'Notes', id)).map(({ AccountId, ContactId, event }) => [event, AccountId?.objectId, ContactId]),
        [
          ['create', first, undefined],
          ['update', first, undefined],
          ['update', second, undefined],
          ['update', second, undefined],
          ['update', undefined, undefined],
          ['update', undefined, undefined],
          ['delete', undefined, undefined],
        ],
      );
      const found = await timelineOf(store, { AccountId: pointer('Accounts', second), objectClass: 'Notes' });
      assert.equal(found.length, 2);
    });

    test('index columns: several at once, in creates and in updates that send none, one or all of them', async () => {
      const [a, b] = [await newAccount(), await newAccount()];
      const contact = await store.create('Contacts', { FirstName: 'c', AccountId: pointer('Accounts', a) });
      const both = { AccountId: pointer('Accounts', a), ContactId: pointer('Contacts', contact) };
      const id = await store.create('Tasks', { Name: 't', ...both });
      const moved = { AccountId: pointer('Accounts', b) };
      const sent = [{ Name: 'u' }, moved, { ContactId: { __op: 'Delete' } }, { ...both, SaleId: null, CaseId: null }];
      for (const body of sent) await store.update('Tasks', id, body);
      assert.deepEqual(
        (await rowsOf(store, 'Tasks', id)).map(({ AccountId, ContactId }) => [AccountId?.objectId, ContactId?.objectId]),
        [
          [a, contact],
          [a, contact],
          [b, contact],
          [b, undefined],
          [a, contact],
        ],
      );
    });

    test('index columns: not where the name is of another type or another class', async () => {
      const table = await tracked(store, { AccountId: { type: 'String' }, ContactId: account });
      const id = await store.create(table, { AccountId: 'text', ContactId: pointer('Accounts', await newAccount()) });
      await store.update(table, id, { AccountId: 'other' });
      for (const row of await rowsOf(store, table, id)) assert.ok(!('AccountId' in row) && !('ContactId' in row));
    });

    test('index columns: one that a customer adds to _Timeline counts, for tables that share it', async () => {
      const key = unique('Account');
      await store.call('PUT', '/platform/schemas/_Timeline', { body: { fields: { [key]: account } } });
      const table = await tracked(store, { [key]: account });
      const target = await newAccount();
      const id = await store.create(table, { [key]: pointer('Accounts', target) });
      await store.update(table, id, { n: 1 });
      for (const row of await rowsOf(store, table, id)) assert.deepEqual(row[key], pointer('Accounts', target));
      // History rows do not prevent a delete.
      await store.remove(table, id);
      assert.deepEqual((await store.remove('Accounts', target)).body, {});
      await store.call('PUT', '/platform/schemas/_Timeline', { body: { fields: { [key]: { __op: 'Delete' } } } });
      assert.equal((await store.post(table, { n: 2 })).status, 201);
    });

    test('a field that comes with the write is in its row', async () => {
      const table = await tracked(store);
      const [one, target] = [await store.create(table, { fresh: 1 }), await newAccount()];
      const link = pointer('Accounts', target);
      await store.update(table, one, { AccountId: link, more: 'x' });
      const [, row] = await rowsOf(store, table, one);
      assert.deepEqual([row.data, row.AccountId], [{ AccountId: link, more: 'x' }, link]);
    });

    test('Errors/119: rows of the timeline keep no record from being deleted, and stay as they are; `user` does', async () => {
      const target = await newAccount();
      const id = await store.create('Notes', { AccountId: pointer('Accounts', target) });
      await store.update('Notes', id, { Name: 'n' });
      assertRefused(await store.remove('Accounts', target), { code: 119 });
      await store.remove('Notes', id);
      const before = await rowsOf(store, 'Notes', id);
      assert.deepEqual((await store.remove('Accounts', target)).body, {});
      assert.deepEqual(await rowsOf(store, 'Notes', id), before);
      assert.equal(before[0].AccountId.objectId, target);
      assert.deepEqual(
        (await rowsOf(store, 'Accounts', target)).map(({ event }) => event),
        ['create', 'delete'],
      );

      const user = await signUp(store);
      const row = await store.create('_Timeline', { event: 'update', user: userPointer(user) });
      const error = `Pointer to Object ${user.id} exists in table _Timeline in key user. Delete is not allowed.`;
      assertRefused(await store.call('DELETE', `/platform/users/${user.id}`), { code: 119, error });
      await store.remove('_Timeline', row);
      assert.equal((await store.call('DELETE', `/platform/users/${user.id}`)).status, 200);
    });

    test('Last marks the newest row of a record: over many updates, in a batch too, until its delete', async () => {
      const table = await tracked(store);
      const [id, other] = [await store.create(table, { n: 0 }), await store.create(table, { n: 0 })];
      assert.deepEqual(lasts(await rowsOf(store, table, id)), [true]);
      for (let n = 1; n <= 6; n++) await store.update(table, id, { n });
      // Many in one millisecond.
      const requests = Array.from({ length: 30 }, (_, n) => ({ method: 'PUT', path: path(table, id), body: { n } }));
      await store.call('POST', '/platform/batch', { body: { requests } });
      let rows = await rowsOf(store, table, id);
      assert.equal(rows.length, 37);
      assert.deepEqual(lasts(rows), onlyNewest(rows));
      await store.remove(table, id);
      rows = await rowsOf(store, table, id);
      // A delete row has no `Last`, and the row before it is no longer the last.
      assert.deepEqual(lasts(rows), [...rows.slice(1).map(() => false), undefined]);
      assert.deepEqual(lasts(await rowsOf(store, table, other)), [true]);
    });

    test('Last is of one table: the same objectId in another is another record', async () => {
      const [one, two] = [await tracked(store), await tracked(store)];
      const objectId = unique('same');
      for (const table of [one, two]) await store.create(table, { objectId, n: 0 });
      await store.update(one, objectId, { n: 1 });
      assert.deepEqual(lasts(await rowsOf(store, one, objectId)), [false, true]);
      assert.deepEqual(lasts(await rowsOf(store, two, objectId)), [true]);
    });

    test('Last is right without the index that finds it, and the rows come without settings of the timeline table', async () => {
      const drop = { indexes: { byRecord: { __op: 'Delete' } } };
      assert.equal((await store.call('PUT', '/platform/schemas/_Timeline', { body: drop })).status, 200);
      const table = await tracked(store);
      const id = await store.create(table, { n: 0 });
      for (let n = 1; n < 4; n++) await store.update(table, id, { n });
      const rows = await rowsOf(store, table, id);
      assert.deepEqual(lasts(rows), onlyNewest(rows));
      const again = { indexes: { byRecord: { objectIdValue: 1, createdAt: -1 } } };
      assert.equal((await store.call('PUT', '/platform/schemas/_Timeline', { body: again })).status, 200);
    });

    test('many writes at once: 50 updates of one record leave 51 rows, whatever they do', async () => {
      const table = await tracked(store, { n: { type: 'Number' }, list: { type: 'Array' }, AccountId: account });
      const link = pointer('Accounts', await newAccount());
      const id = await store.create(table, { n: 0, AccountId: link });
      const bodies = Array.from({ length: 50 }, (_, n) =>
        n % 2 === 0 ? { n: { __op: 'Increment', amount: 1 } } : { list: { __op: 'AddUnique', objects: [n] } },
      );
      await Promise.all(bodies.map((body) => store.update(table, id, body)));
      const rows = await rowsOf(store, table, id);
      assert.equal(rows.length, 51);
      assert.equal(rows.filter(({ Last }) => Last).length, 1);
      for (const row of rows) assert.deepEqual(row.AccountId, link);
      const record = await store.read(table, id);
      assert.deepEqual([record.n, record.list.length], [25, 25]);
    });

    test('many writes at once: creates of many shapes and those that fail leave one row for each that succeeds', async () => {
      const table = await tracked(store, { a: { type: 'Number' }, b: { type: 'String' }, AccountId: account });
      const link = pointer('Accounts', await newAccount());
      const taken = await store.create(table, { a: -1 });
      const answers = await Promise.all(
        Array.from({ length: 120 }, (_, n) => {
          const shape = [{ a: n }, { a: n, b: 'x' }, { b: 'y', AccountId: link }, { a: n, objectId: taken }][n % 4];
          const silent = n % 5 === 0 ? { dontUpdatePlatformTimeline: true } : {};
          return store.post(table, { ...shape, ...silent });
        }),
      );
      answers.forEach(({ status, text }, n) => {
        assert.equal(status, n % 4 === 3 ? 400 : 201, text);
      });
      const made = (await store.all(table)).filter(({ objectId }) => objectId !== taken);
      assert.equal(made.length, 90);
      const rows = await timelineOf(store, { objectClass: table, objectIdValue: { $ne: taken } });
      assert.equal(rows.length, 90 - 18);
      for (const { objectIdValue, data, AccountId } of rows) {
        const record = made.find(({ objectId }) => objectId === objectIdValue);
        assert.deepEqual([data.a, data.b, AccountId], [record.a, record.b, record.AccountId]);
      }
      assert.equal((await rowsOf(store, table, taken)).length, 1);
    });

    test('many writes at once: of many records, with updates and deletes of records that are not there', async () => {
      const table = await tracked(store, { n: { type: 'Number' } });
      const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => store.create(table, { n })));
      const before = await countRows(store, { objectClass: table });
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) => {
          const id = ids[n % ids.length] ?? '';
          if (n % 3 === 0) return store.put(table, `nowhere${n}`, { n });
          return n >= 80 ? store.remove(table, id) : store.put(table, id, { n });
        }),
      );
      const done = answers.filter(({ status }) => status === 200).length;
      for (const { status, text } of answers) assert.ok(status === 200 || status === 404, text);
      assert.equal(await countRows(store, { objectClass: table }), before + done);
      for (const id of ids) {
        const rows = await rowsOf(store, table, id);
        const marked = rows.filter(({ Last }) => Last).length;
        assert.equal(marked, rows.at(-1)?.event === 'delete' ? 0 : 1, JSON.stringify(rows));
      }
    });

    test('relations and files of a write do not keep it from having its row', async () => {
      const table = await tracked(store, { R: { type: 'Relation', targetClass: 'Accounts' } });
      const add = { __op: 'AddRelation', objects: [pointer('Accounts', await newAccount())] };
      const id = await store.create(table, { R: add });
      await store.update(table, id, { R: { ...add, __op: 'RemoveRelation' } });
      const rows = await rowsOf(store, table, id);
      assert.deepEqual(
        rows.map(({ event, data, Last }) => [event, data.R.__op, Last]),
        [
          ['create', 'AddRelation', false],
          ['update', 'RemoveRelation', true],
        ],
      );
      assertRefused(await store.put(table, 'nowhere', { R: add }), { code: 101 });
      assert.deepEqual(await rowsOf(store, table, 'nowhere'), []);
    });

    test('a table whose timeline is on from the first: its first record has its row', async () => {
      const name = unique('T');
      await store.create(name, { n: 1 });
      await store.call('PUT', `/platform/schemas/${name}`, { body: { timeline: on } });
      const id = await store.create(name, { n: 2 });
      assert.equal((await timelineOf(store, { objectClass: name })).length, 1);
      assert.equal((await rowOf(store, { objectIdValue: id })).event, 'create');
    });
  });
