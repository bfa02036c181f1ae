/** $text: full-text search over a text index. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  assertError,
  badCases,
  createEach,
  defineTable,
  find,
  findNames,
  onEachEngine,
  type Row,
  tableName,
  type WhereCase,
  whereCases,
} from '../support/query.ts';

const search = ($term: string, more: Row = {}) => ({ body: { $text: { $search: { $term, ...more } } } });

onEachEngine((get) => {
  const table = tableName('Text');
  before(async () => {
    await defineTable(get(), table, { k: 'String', body: 'String', n: 'Number' }, { textIndex: ['body'] });
    await createEach(get(), table, [
      { k: 'a', body: 'red apple pie', n: 1 },
      { k: 'b', body: 'green apple', n: 2 },
      { k: 'c', body: 'pie with cherries', n: 3 },
      { k: 'd', body: 'Café Noir', n: 4 },
      { k: 'e' },
      { k: 'f', body: 'תפוח אדום', n: 5 },
      { k: 'g', body: 'pie of apple, red', n: 6 },
    ]);
  });
  const cases: WhereCase[] = [
    ['$term: one word', search('cherries'), 'c'],
    ['$term: several words match any of them', search('cherries green'), 'b c'],
    ['a word that is not there', search('banana'), ''],
    ['case does not matter', search('CHERRIES'), 'c'],
    ['$caseSensitive true: case matters', search('Noir', { $caseSensitive: true }), 'd'],
    ['$caseSensitive true: another case does not match', search('noir', { $caseSensitive: true }), ''],
    ['diacritics do not matter', search('cafe'), 'd'],
    ['diacritics in the term do not matter', search('chérries'), 'c'],
    ['$diacriticSensitive true: diacritics matter', search('cafe', { $diacriticSensitive: true }), ''],
    ['$diacriticSensitive true: the same diacritics match', search('café', { $diacriticSensitive: true }), 'd'],
    ['$language is accepted', search('cherries', { $language: 'none' }), 'c'],
    ['a phrase in double quotes', search('"apple pie"'), 'a'],
    ['a phrase whose words stand apart does not match', search('"pie apple"'), ''],
    ['a minus excludes a word', search('apple -green'), 'a g'],
    ['Hebrew', search('תפוח'), 'f'],
    ['with another constraint', { ...search('apple'), n: { $gt: 1 } }, 'b g'],
    ['words of the search language are only words', search('apple AND NOT OR NEAR(green)'), 'a b g'],
    ['punctuation in the term is harmless', search('cherries * ( ) : ^ { } \' " ;'), 'c'],
  ];
  whereCases(get, 'Records/Query $text', table, cases);

  test('Records/Query $text: order=$score puts the better match first', async () => {
    const names = await findNames(get(), table, { where: search('cherries pie'), order: '$score', keys: 'k,$score' });
    assert.equal(names[0], 'c');
    assert.deepEqual(names.slice(1).sort(), ['a', 'g']);
  });
  test('Records/Query $text: keys=$score returns score', async () => {
    const rows = await find(get(), table, { where: search('cherries'), keys: 'k,$score' });
    assert.equal(rows.length, 1);
    assert.equal(typeof rows[0]?.score, 'number');
    assert.ok(!('body' in (rows[0] ?? {})));
  });
  test('Records/Query $text: the index follows updates and deletes', async () => {
    const [id] = await createEach(get(), table, [{ k: 'z', body: 'zebra crossing' }]);
    const path = `/platform/classes/${table}/${id}`;
    assert.deepEqual(await findNames(get(), table, { where: search('zebra') }), ['z']);
    await get().call('PUT', path, { body: { body: 'walrus' } });
    assert.deepEqual(await findNames(get(), table, { where: search('zebra') }), []);
    assert.deepEqual(await findNames(get(), table, { where: search('walrus') }), ['z']);
    await get().call('DELETE', path);
    assert.deepEqual(await findNames(get(), table, { where: search('walrus') }), []);
  });
  test('Records/Query $text: an index added later covers the records that were there', async () => {
    const late = tableName('Late');
    await createEach(get(), late, [{ k: 'a', body: 'old words' }]);
    const path = `/platform/schemas/${late}`;
    const answer = await get().call('PUT', path, { body: { textIndex: ['body'] } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(await findNames(get(), late, { where: search('words') }), ['a']);
  });
  test('Records/Query $text: count with $text', async () => {
    const answer = await get().call('GET', `/platform/classes/${table}`, {
      query: { where: search('apple'), count: 1, limit: 0 },
    });
    assert.deepEqual([answer.status, answer.body.count], [200, 3]);
  });
  test('Records/Query $text: needs a text index, else 500', async () => {
    const bare = tableName('Bare');
    await createEach(get(), bare, [{ k: 'a', body: 'apple' }]);
    const answer = await get().call('GET', `/platform/classes/${bare}`, { query: { where: search('apple') } });
    assertError(answer, 500, 1, /server error/i);
  });
  badCases(get, 'Records/Query $text', table, [
    ['$term is required', { where: { body: { $text: { $search: {} } } } }, 107, /bad \$text/],
    ['$search must be an object', { where: { body: { $text: { $search: 'apple' } } } }, 107, /bad \$text/],
    ['$term must be a string', { where: { body: { $text: { $search: { $term: 5 } } } } }, 107, /bad \$text/],
    ['$caseSensitive must be a boolean', { where: search('a', { $caseSensitive: 'yes' }) }, 107, /bad \$text/],
    ['$diacriticSensitive must be a boolean', { where: search('a', { $diacriticSensitive: 1 }) }, 107, /bad \$text/],
    ['$language must be a string', { where: search('a', { $language: 1 }) }, 107, /bad \$text/],
  ]);
});
