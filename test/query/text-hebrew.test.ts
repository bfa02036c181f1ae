/** $text: Hebrew words behind prefix letters and points. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
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
  const table = tableName('Hebrew');
  before(async () => {
    await defineTable(get(), table, { k: 'String', body: 'String' }, { textIndex: ['body'] });
    await createEach(get(), table, [
      { k: 'a', body: 'ושבבית הקפה' },
      { k: 'b', body: 'הבית הגדול' },
      { k: 'c', body: 'לבית' },
      { k: 'd', body: 'בית' },
      { k: 'e', body: 'בַּיִת' },
      { k: 'f', body: 'כֹּל בֵּית־הַסֵּפֶר' },
      { k: 'g', body: 'ביתן, ולכשבבית' },
    ]);
  });
  const cases: WhereCase[] = [
    ['a word is found behind up to three prefix letters', search('בית'), 'a b c d e f'],
    ['a search with a prefix letter is for the word with it', search('הבית'), 'b'],
    ['points in the term do not matter', search('בַּיִת'), 'a b c d e f'],
    ['a word after a maqaf, behind a prefix letter with its points', search('ספר'), 'f'],
    ['several words', search('קפה גדול'), 'a b'],
    ['a phrase is found as it is', search('"בית"'), 'd e f'],
    ['a phrase across a maqaf', search('"בית הספר"'), 'f'],
    ['an excluded word is one behind prefix letters, too', search('גדול -בית'), ''],
    [
      '$diacriticSensitive true: points matter, and words are found as they are',
      search('בית', { $diacriticSensitive: true }),
      'd',
    ],
    ['$caseSensitive true', search('בית', { $caseSensitive: true }), 'a b c d e f'],
  ];
  whereCases(get, 'Records/Query $text Hebrew', table, cases);

  test('Records/Query $text Hebrew: whole words before those behind prefix letters', async () => {
    const names = await findNames(get(), table, { where: search('בית'), order: '$score', keys: 'k' });
    assert.deepEqual([names.slice(0, 3).sort(), names.slice(3).sort()], [['d', 'e', 'f'], ['a', 'b', 'c']]); // biome-ignore format: two ranks
    const rows = await find(get(), table, { where: search('בית'), keys: 'k,$score' });
    assert.deepEqual(rows.map(({ k, score }) => `${k} ${score}`).sort(), ['a 0.5', 'b 0.5', 'c 0.5', 'd 1', 'e 1', 'f 1']);
  });
  test('Records/Query $text Hebrew: the index follows updates of pointed texts', async () => {
    const [id] = await createEach(get(), table, [{ k: 'z', body: 'הַשֻּׁלְחָן' }]);
    assert.deepEqual(await findNames(get(), table, { where: search('שלחן') }), ['z']);
    await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { body: 'כִּסֵּא' } });
    assert.deepEqual(await findNames(get(), table, { where: search('שלחן') }), []);
    assert.deepEqual(await findNames(get(), table, { where: search('כסא') }), ['z']);
    await get().call('DELETE', `/platform/classes/${table}/${id}`);
    assert.deepEqual(await findNames(get(), table, { where: search('כסא') }), []);
  });
});
