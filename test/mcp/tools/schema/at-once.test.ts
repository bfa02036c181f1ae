/** Concurrent changes of labels run one after another; permissions that are not sent stay, even if they are changed meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/records.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('labels that are given at once', ({ use, table, call }) => {
  test('Add-Fields: two calls for one new field leave one label', async () => {
    const className = await table({});
    const add = (label: string) =>
      use('Add-Fields', { className, fields: [{ name: 'Size', type: 'Number', label }] }) as Promise<Json>;
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(add));
    assert.deepEqual(
      answers.flatMap(({ added }) => added),
      ['Size'],
    );
    const { body } = await call('GET', '/platform/classes/_Dictionary', { query: { where: { tblName: className } } });
    assert.equal(body.results.length, 1);
  });
});

onEachEngine('permissions that are changed at once', ({ use, table, call }) => {
  test('Set-Table-Permissions: what is closed meanwhile stays closed', async () => {
    const className = await table({});
    const schema = `/platform/schemas/${className}`;
    const everybody = { '*': true };
    const put = async (find: object) => {
      const answer = await call('PUT', schema, { body: { classLevelPermissions: { find, get: everybody } } });
      assert.equal(answer.status, 200, answer.text);
    };
    for (let time = 0; time < 20; time++) {
      await put(everybody);
      await Promise.all([use('Set-Table-Permissions', { className, permissions: { create: ['Admin'] } }), put({})]);
      const { body } = await call('GET', schema);
      assert.deepEqual(body.classLevelPermissions.find, {}, `time ${time}`);
    }
  });
});
