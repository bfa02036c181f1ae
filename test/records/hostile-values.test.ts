import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertClean, assertRefused, path, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const NUL = '\\u0000';
const lone = ['\\ud800', '\\udfff', 'a\\ud83d', '\\udc00\\ud800'];

/** A value as JSON, and the codes that may refuse it. */
const refused: [string, string, number[]][] = [
  ['NUL in a string', `"a${NUL}b"`, [107]],
  ['NUL alone', `"${NUL}"`, [107]],
  ['NUL in an element', `["a${NUL}"]`, [107]],
  ['NUL deep in an Object', `{"a":[{"b":"${NUL}"}]}`, [107]],
  ['NUL in a key', `{"a${NUL}":1}`, [105, 107, 121]],
  ['NUL in an objectId of a Pointer', `{"__type":"Pointer","className":"Targets","objectId":"a${NUL}"}`, [106, 107, 111]],
  ['NUL in a className of a Pointer', `{"__type":"Pointer","className":"T${NUL}","objectId":"a"}`, [103, 106, 107, 111]],
  ['NUL in an operator', `{"__op":"Add","objects":["${NUL}"]}`, [107]],
  ...lone.flatMap((text): [string, string, number[]][] => [
    [`a lone surrogate ${text}`, `"${text}"`, [107]],
    [`a lone surrogate in an element ${text}`, `[1,"${text}"]`, [107]],
    [`a lone surrogate in an Object ${text}`, `{"a":"${text}"}`, [107]],
    [`a lone surrogate in a key ${text}`, `{"${text}":1}`, [105, 107, 121]],
  ]),
  ['1e999', '1e999', [107]],
  ['-1e999', '-1e999', [107]],
  ['1e999 in an element', '[1e999]', [107]],
  ['1e999 in an Object', '{"a":{"b":-1e999}}', [107]],
  ['1e999 in an operator', '{"__op":"Increment","amount":1e999}', [107]],
  ['200 levels of Object', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, [107]],
  ['200 levels of Array', '['.repeat(200) + ']'.repeat(200), [107]],
  ['100,000 levels of Array', '['.repeat(100_000) + ']'.repeat(100_000), [107]],
  ['100,000 levels of Object', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, [107]],
  ['100,000 levels never closed', '['.repeat(100_000), [107]],
  ['200 levels in an operator', `{"__op":"Add","objects":[${'['.repeat(200) + ']'.repeat(200)}]}`, [107]],
  ['200 operators in each other', `${'{"__op":"Batch","ops":['.repeat(200)}${']}'.repeat(200)}`, [107]],
];

const injections = [
  `'; DROP TABLE "_User"; --`,
  `" OR "1"="1`,
  `') UNION SELECT * FROM sqlite_master --`,
  `1); DELETE FROM Config; --`,
  '%_%',
  '$1 ?1 :a @b',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is the point
  '${process.exit(1)} {{Name}} #{1}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '{"$ne":""}',
  '\\x00\\u0000 as text',
  '$where: 1',
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const [what, text, code] of refused)
      test(`Hostile values: ${what} is refused on create and on update, without effect`, async () => {
        const table = await store.table({ Name: 'String' });
        const id = await store.create(table, { Name: 'a' });
        const before = await store.snapshot(table);
        assertRefused(await store.post(table, `{"Fresh":${text}}`), { code });
        assertRefused(await store.put(table, id, `{"Name":"changed","Fresh":${text}}`), { code });
        if (text.startsWith('"') || text.endsWith('1e999'))
          assertRefused(await store.put(table, id, `{"Name":${text}}`), { code });
        assert.equal(await store.snapshot(table), before);
      });

    test('Hostile values: NUL and lone surrogates in a field name are refused', async () => {
      const table = await store.table();
      for (const text of [`a${NUL}`, ...lone]) assertRefused(await store.post(table, `{"${text}":1}`), { code: [105, 107] });
      assert.deepEqual(await store.all(table), []);
    });

    for (const text of injections)
      test(`Hostile values: values are always bound, never spliced: ${text}`, async () => {
        const table = await store.table({ S: 'String', A: 'Array', O: 'Object' });
        const bystander = await store.create(table, { S: 'bystander' });
        const sent = { S: text, A: [text], O: { a: text } };
        const id = await store.create(table, { objectId: text, ...sent });
        const { S, A, O } = await store.read(table, id);
        assert.deepEqual({ S, A, O }, sent);
        await store.update(table, id, { S: `${text}2`, A: { __op: 'AddUnique', objects: [text, `${text}2`] } });
        assert.deepEqual((await store.read(table, id)).A, [text, `${text}2`]);
        const { body } = await store.call('GET', path(table), { query: { where: { S: `${text}2` } } });
        assert.deepEqual(
          body.results.map((row: { objectId: string }) => row.objectId),
          [id],
        );
        await store.remove(table, id);
        assert.deepEqual(
          (await store.all(table)).map((row) => row.objectId),
          [bystander],
        );
        assert.ok(await store.fields('_User'));
        assert.ok(await store.fields('Config'));
      });

    for (const key of [`a'b`, 'a"b', `'; DROP TABLE x; --`, 'a\\b', `"]') --`, 'a[0]', '*', ' ', 'a\nb'])
      test(`Hostile values: keys inside an Object are data: ${JSON.stringify(key)}`, async () => {
        const table = await store.table({ O: 'Object' });
        const id = await store.create(table, { O: { [key]: 1, other: 2 } });
        assert.deepEqual((await store.read(table, id)).O, { [key]: 1, other: 2 });
        const answer = await store.put(table, id, { [`O.${key}`]: 5 });
        assert.ok(answer.status < 500, answer.text);
        assertClean(answer);
        const after = (await store.read(table, id)).O;
        assert.deepEqual(after, answer.status === 200 ? { [key]: 5, other: 2 } : { [key]: 1, other: 2 });
      });

    const operators = ['{"$ne":""}', '{"$gt":0}', '{"$set":{"Name":"x"}}', '{"$where":"1"}', '[{"$ne":""}]'];
    for (const text of operators)
      test(`Hostile values: a query operator as a value is refused: ${text}`, async () => {
        const table = await store.table({ Name: 'String', O: 'Object', A: 'Array' });
        const id = await store.create(table, { Name: 'a' });
        const before = await store.snapshot(table);
        for (const name of ['Name', 'O', 'A', 'Fresh']) {
          assertRefused(await store.post(table, `{"${name}":${text}}`), { code: [111, 121] });
          assertRefused(await store.put(table, id, `{"${name}":${text}}`), { code: [111, 121] });
        }
        assert.equal(await store.snapshot(table), before);
      });

    test('Hostile values: an operator inside an Object or Array never runs', async () => {
      const table = await store.table({ N: 'Number', O: 'Object', A: 'Array' });
      const id = await store.create(table, { N: 1, O: { n: 1 }, A: [1] });
      for (const body of [
        { O: { n: { __op: 'Increment', amount: 5 } } },
        { O: { n: { __op: 'Delete' } } },
        { A: [{ __op: 'Increment', amount: 5 }] },
        { A: { __op: 'Add', objects: [{ __op: 'Delete' }] } },
      ]) {
        const answer = await store.put(table, id, body);
        assert.ok(answer.status < 500, answer.text);
        assertClean(answer);
      }
      assert.equal((await store.read(table, id)).N, 1);
      assert.notEqual((await store.read(table, id)).O.n, 6);
    });

    test('Hostile values: nothing of the prototype chain leaks into other records or answers', async () => {
      const table = await store.table({ O: 'Object' });
      for (const text of ['{"__proto__":{"polluted":"yes"}}', '{"constructor":{"prototype":{"polluted":"yes"}}}']) {
        await store.post(table, `{"O":${text}}`);
        await store.post(table, text);
      }
      const record = await store.read(table, await store.create(table, { O: {} }));
      assert.deepEqual(record.O, {});
      assert.equal(JSON.stringify(record).includes('polluted'), false);
      assert.equal((await store.snapshot(table)).includes('polluted'), false);
    });
  });
