/** Required fields and default values. Reference: schemas.md#required-fields-and-defaults. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const put = (table: string, body: unknown) => store.call('PUT', `/platform/schemas/${table}`, { body });
    const define = async (fields: Record<string, unknown>, more: object = {}) => {
      const table = unique('T');
      const answer = await store.call('POST', `/platform/schemas/${table}`, { body: { fields, ...more } });
      assert.equal(answer.status, 200, answer.text);
      return table;
    };
    const required = (name: string) => ({ code: 142, error: `${name} is required` });

    test('required: a create without the field is 142, and so is null, an empty text, and Delete', async () => {
      const table = await define({ F: { type: 'String', required: true }, n: { type: 'Number' } });
      for (const body of [{}, { n: 1 }, { F: null }, { F: '' }, { F: { __op: 'Delete' } }])
        assertRefused(await store.post(table, body), required('F'));
      assert.deepEqual(await store.all(table), []);
      await store.create(table, { F: ' ' });
    });

    test('required: clearing it is 142 and changes nothing; an update that leaves it out is fine', async () => {
      const table = await define({
        F: { type: 'String', required: true },
        O: { type: 'Object', required: true },
        n: { type: 'Number' },
      });
      const id = await store.create(table, { F: 'a', O: {} });
      for (const body of [{ F: null }, { F: '' }, { F: { __op: 'Delete' }, n: 5 }])
        assertRefused(await store.put(table, id, body), required('F'));
      assertRefused(await store.put(table, id, { O: null, 'O.a': { __op: 'Delete' } }), required('O'));
      await store.update(table, id, { n: 1, 'O.a': 2, O: { b: 1 } });
      const { F, O, n } = await store.read(table, id);
      assert.deepEqual([F, O, n], ['a', { b: 1 }, 1]);
    });

    test('required: in a batch only the items that lack it fail', async () => {
      const table = await define({ F: { type: 'String', required: true } });
      const requests = [{ F: 'a' }, {}, { F: 'b' }].map((body) => ({ method: 'POST', path: `/platform/classes/${table}`, body }));
      const { body } = await store.call('POST', '/platform/batch', { body: { requests } });
      assert.deepEqual(
        body.map((item: Json) => item.error ?? 'made'),
        ['made', required('F'), 'made'],
      );
    });

    test('required: refused while records lack it, with their number and five of them, and nothing changes', async () => {
      const table = await define({ F: { type: 'String' }, n: { type: 'Number' } });
      const ids: string[] = [];
      for (let n = 0; n < 8; n++) ids.push(await store.create(table, n === 3 ? { F: 'x' } : n % 2 ? { F: '' } : {}));
      const answer = await put(table, { fields: { F: { type: 'String', required: true } } });
      const { code, error, count, objectIds } = answer.body;
      assert.deepEqual([answer.status, code, count], [400, 142, 7], answer.text);
      assert.match(error, /^F cannot be required: 7 records lack it$/);
      assert.deepEqual(
        objectIds,
        [0, 1, 2, 4, 5].map((n) => ids[n]),
      );
      assert.deepEqual((await store.fields(table)).F, { type: 'String' });
      await store.create(table, {});
      const added = await put(table, { fields: { G: { type: 'Date', required: true } } });
      assert.deepEqual([added.status, added.body.code, added.body.count], [400, 142, 9], added.text);
      assert.equal((await store.fields(table)).G, undefined);
    });

    test('required: what was refused is set once all records have it, and taken away by false', async () => {
      const table = await define({ F: { type: 'String' } });
      const id = await store.create(table, {});
      await store.update(table, id, { F: 'x' });
      const answer = await put(table, { fields: { F: { type: 'String', required: true } } });
      assert.deepEqual(answer.body.fields.F, { type: 'String', required: true }, answer.text);
      assertRefused(await store.post(table, {}), required('F'));
      assert.equal((await put(table, { fields: { F: { type: 'String', required: false } } })).status, 200);
      assert.deepEqual((await store.fields(table)).F, { type: 'String' });
      await store.create(table, {});
    });

    test('required: decided with the creates that go on meanwhile', async () => {
      const table = await define({ F: { type: 'String' } });
      const creates = async () => {
        const answers = [];
        for (let n = 0; n < 15; n++) answers.push(await store.post(table, n % 5 === 4 ? {} : { F: `${n}` }));
        return answers;
      };
      const setting = (async () => {
        for (let n = 0; n < 10; n++) {
          const answer = await put(table, { fields: { F: { type: 'String', required: n % 2 === 0 } } });
          if (n % 2 === 0 && answer.status === 200) return true;
        }
        return false;
      })();
      const [isRequired] = await Promise.all([setting, ...Array.from({ length: 8 }, creates)]);
      const lacking = (await store.all(table)).filter(({ F }) => F === undefined).length;
      if (isRequired) assert.equal(lacking, 0);
      assert.equal((await store.fields(table)).F.required ?? false, isRequired);
    });

    test('defaultValue: fills a create that leaves the field out, of each type', async () => {
      const defaults: Record<string, [type: object, value: Json]> = {
        s: [{ type: 'String' }, 'text'],
        n: [{ type: 'Number' }, 0],
        b: [{ type: 'Boolean' }, false],
        d: [{ type: 'Date' }, date('2020-01-02T03:04:05.006Z')],
        p: [{ type: 'Pointer', targetClass: '_User' }, pointer('_User', 'master')],
        a: [{ type: 'Array' }, [1, { x: null }]],
        o: [{ type: 'Object' }, { deep: { er: 1 } }],
        h: [{ type: 'HTML/XML' }, '<b>'],
      };
      const table = await define(
        Object.fromEntries(Object.entries(defaults).map(([name, [type, defaultValue]]) => [name, { ...type, defaultValue }])),
      );
      for (const [name, [type, defaultValue]] of Object.entries(defaults))
        assert.deepEqual((await store.fields(table))[name], { ...type, defaultValue });
      const filled = await store.read(table, await store.create(table, {}));
      for (const [name, [, value]] of Object.entries(defaults)) assert.deepEqual(filled[name], value, name);
      const sent = await store.read(table, await store.create(table, { s: null, n: 5, 'o.own': 1 }));
      assert.deepEqual([sent.s, sent.n, sent.o, sent.h], [undefined, 5, { own: 1 }, '<b>']);
      const [{ total }] = (
        await store.call('GET', `/platform/classes-aggregate/${table}`, {
          query: { pipeline: [{ $match: { h: '<b>' } }, { $count: 'total' }] },
        })
      ).body.results;
      assert.equal(total, 2);
    });

    test('defaultValue: meets required; existing records and updates are not filled; null takes it away', async () => {
      const table = await define({ n: { type: 'Number' } });
      const old = await store.create(table, { n: 1 });
      assert.equal((await put(table, { fields: { F: { type: 'String', defaultValue: 'x' } } })).status, 200);
      await store.update(table, old, { n: 2 });
      assert.equal((await store.read(table, old)).F, undefined);
      await store.update(table, old, { F: 'own' });
      assert.equal((await put(table, { fields: { F: { type: 'String', required: true } } })).status, 200);
      assert.equal((await store.read(table, await store.create(table, {}))).F, 'x');
      assertRefused(await store.post(table, { F: null }), required('F'));
      const answer = await put(table, { fields: { F: { type: 'String', defaultValue: null } } });
      assert.deepEqual(answer.body.fields.F, { type: 'String', required: true });
      assertRefused(await store.post(table, {}), required('F'));
    });

    test('defaultValue: of another type is 111, and nothing changes', async () => {
      const table = await define({ n: { type: 'Number' } });
      for (const [definition, code] of [
        [{ n: { type: 'Number', defaultValue: 'x' } }, 111],
        [{ s: { type: 'String', defaultValue: {} } }, 111],
        [{ p: { type: 'Pointer', targetClass: '_User', defaultValue: pointer('Other', 'x') } }, 111],
        [{ d: { type: 'Date', defaultValue: 'yesterday' } }, 111],
        [{ o: { type: 'Object', defaultValue: [] } }, 111],
        [{ n: { type: 'Number', defaultValue: { __op: 'Increment', amount: 1 } } }, 107],
        [{ f: { type: 'File', defaultValue: {} } }, 255],
      ] as const)
        assertRefused(await put(table, { fields: definition }), { code });
      assert.deepEqual(Object.keys(await store.fields(table)).length, 7);
      assert.deepEqual((await store.fields(table)).n, { type: 'Number' });
    });

    test('a default is no part of what was sent: the history of a create has only that', async () => {
      const table = await define(
        { s: { type: 'String' }, F: { type: 'String', defaultValue: 'x' } },
        { timeline: { displayFields: {} } },
      );
      const id = await store.create(table, { s: 'a' });
      const where = { objectClass: table, objectIdValue: id };
      const { body } = await store.call('GET', '/platform/classes/_Timeline', { query: { where } });
      assert.deepEqual(
        body.results.map(({ data }: Json) => data),
        [{ s: 'a' }],
      );
    });

    test('a hidden required field is not named to those it is hidden from', async () => {
      const table = await define(
        { F: { type: 'String', required: true } },
        { classLevelPermissions: { create: { '*': true }, find: { '*': true }, protectedFields: { '*': ['F'] } } },
      );
      const username = unique('u');
      const user = await store.call('POST', '/platform/users', { body: { username, password: 'Aa123456x' } });
      const answer = await store.post(table, {}, { session: user.body.sessionToken });
      assertRefused(answer, { code: 142, error: 'A field that is hidden from you is required' });
    });

    test('a new system has neither', async () => {
      const { body } = await store.call('GET', '/platform/schemas');
      for (const { className, fields, uniqueIndexes } of body.results) {
        if (/^T[0-9a-f]{10}$/.test(className)) continue;
        assert.equal(uniqueIndexes, undefined, className);
        for (const field of Object.values(fields) as Json[])
          assert.ok(!('required' in field || 'defaultValue' in field), className);
      }
    });
  });
