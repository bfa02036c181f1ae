// What `$text` finds and what a record's own words make of its relevance, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, TextSearch } from '../../../query/model/filter.ts';
import { MAX_INDEXED_LENGTH } from '../full-text/words.ts';
import { compileUpdate } from '../mutation.ts';
import { writeScore } from '../select.ts';
import { SqlWriter } from '../writer.ts';
import type { EngineTables } from './tables.ts';

const cases: [name: string, search: Partial<TextSearch>, found: string][] = [
  ['any of the terms', { terms: ['tea', 'cafe'] }, 'a d'],
  ['columns without index are not searched', { terms: ['COFFEE'] }, 'a b d'],
  ['a phrase', { phrases: ['coffee shop'] }, 'a'],
  ['a phrase and terms: the phrase decides', { phrases: ['coffee shop'], terms: ['tea'] }, 'a'],
  ['all phrases', { phrases: ['coffee', 'shop far'] }, 'b'],
  ['excluded words', { terms: ['coffee'], excluded: ['tea', 'town'] }, 'b'],
  ['an excluded phrase', { terms: ['coffee'], excluded: ['shop coffee'] }, 'a b'],
  ['only excluded words', { excluded: ['tea'] }, ''],
  ['nothing at all', {}, ''],
  ['another script', { terms: ['עולם'] }, 'c'],
  ['words of the query language are words', { terms: ['OR'] }, 'd'],
  ['quotes and operators do nothing', { terms: ['"', 'title : tea', '*', 'NEAR(', 'quoted"'] }, 'b'],
  ['quotes and operators of PostgreSQL do nothing', { terms: ["'", "tea' | '", '!', ':*', '\\', 'far<->'] }, 'b d'],
  ['a term of signs only', { terms: ['!!'] }, ''],
  ['a phrase of signs only', { phrases: ['!!'], terms: ['tea'] }, ''],
  ['case-sensitive', { terms: ['Coffee'], caseSensitive: true }, 'a'],
  ['case-sensitive phrase', { phrases: ['coffee shop'], caseSensitive: true }, ''],
  ['case-sensitive exclusion', { terms: ['shop'], excluded: ['Coffee'], caseSensitive: true }, 'b d'],
  ['diacritic-sensitive', { terms: ['cafe'], diacriticSensitive: true }, ''],
  ['diacritic-sensitive, found', { terms: ['CAFÉ'], diacriticSensitive: true }, 'a'],
  ['case- and diacritic-sensitive', { terms: ['CAFÉ'], caseSensitive: true, diacriticSensitive: true }, ''],
];

/** Makes a table with a text index, some of its records older than that, and defines the tests. */
export async function testFullText(tables: EngineTables): Promise<void> {
  await testLongTexts(tables);
  await tables.make('T', { title: 'String', body: 'HTML/XML', other: 'String' });
  await tables.add('T', { objectId: 'a', title: 'Coffee shop', body: 'best Café in town' });
  await tables.add('T', { objectId: 'b', title: 'coffee', body: 'a shop far away "quoted"' });
  await tables.change({ kind: 'setTextIndex', className: 'T', fields: ['title', 'body'] });
  await tables.add('T', { objectId: 'c', title: 'שלום עולם', other: 'coffee' });
  await tables.add('T', { objectId: 'd', title: 'tea', body: 'shop coffee OR NOT' });
  await tables.add('T', { objectId: 'e' });

  for (const [name, search, found] of cases)
    test(`$text: ${name}`, async () => {
      const filter = searchFilter(tables, search);
      await assert.doesNotReject(tables.ids('T', { kind: 'not', item: filter }));
      assert.equal(await tables.ids('T', filter), found);
    });

  test('relevance for a caller who sees some records is that of each by itself', async () => {
    const search = { terms: ['café', 'shop'] };
    const before = await textScores(tables, search, true);
    assert.deepEqual(
      [...before].map(([id, score]) => `${id} ${score}`),
      ['a 2', 'b 1', 'c null', 'd 1', 'e null'],
    );
    await tables.add('T', { objectId: 'f', title: 'shop shop', body: 'SHOP' });
    const after = await textScores(tables, search, true);
    assert.deepEqual([...after].slice(0, 5), [...before]);
    assert.ok(Math.abs((after.get('f') ?? 0) - (3 * 2.2) / (3 + 1.2)) < 1e-9);
    const phrase = await textScores(tables, { phrases: ['shop far'], terms: ['coffee'] }, true);
    assert.deepEqual([phrase.get('b'), phrase.get('a')], [2, null]);
    const twice = await textScores(tables, { phrases: ['shop shop'] }, true);
    assert.deepEqual([twice.get('f'), twice.get('a')], [1, null]);
  });
}

/** A text whose last word but one, of five letters, ends with what is indexed of it. */
const long = (last: string) => `first ${'𝒳 '.repeat(MAX_INDEXED_LENGTH / 2 - 6)}${last} beyond`;

async function retitle(tables: EngineTables, value: string): Promise<void> {
  const assignments = [{ kind: 'set', field: tables.field('Cut', 'title'), value }] as const;
  const update = { kind: 'update', table: tables.table('Cut'), objectId: 'a', guard: null, assignments, returning: [] } as const;
  await tables.run(compileUpdate(update, tables.dialect));
}

async function testLongTexts(tables: EngineTables): Promise<void> {
  await tables.make('Cut', { title: 'String', body: 'HTML/XML' });
  await tables.add('Cut', { objectId: 'a', title: long('early'), body: 'Other' });
  await tables.change({ kind: 'setTextIndex', className: 'Cut', fields: ['title', 'body'] });
  await tables.add('Cut', { objectId: 'b', title: 'short', body: long('later') });
  const found = (search: Partial<TextSearch>) => tables.ids('Cut', searchFilter(tables, search, 'Cut'));

  test('$text: of a long text the words before the bound are found, however they are looked for', async () => {
    assert.equal(await found({ terms: ['first'] }), 'a b');
    for (const sensitive of [{}, { caseSensitive: true }, { diacriticSensitive: true }]) {
      assert.equal(await found({ terms: ['early'], ...sensitive }), 'a');
      assert.equal(await found({ terms: ['later'], ...sensitive }), 'b');
      assert.equal(await found({ terms: ['beyond'], ...sensitive }), '');
      assert.equal(await found({ phrases: ['later beyond'], ...sensitive }), '');
      assert.equal(await found({ terms: ['first'], excluded: ['beyond', 'early'], ...sensitive }), 'b');
    }
    assert.deepEqual([...(await textScores(tables, { terms: ['beyond', 'early'] }, true, 'Cut'))], [['a', 1], ['b', null]]); // biome-ignore format: one comparison
  });

  test('$text: what follows the bound is left alone by changes of the text', async () => {
    await retitle(tables, long('again'));
    assert.deepEqual(
      [await found({ terms: ['early'] }), await found({ terms: ['again'] }), await found({ terms: ['beyond'] })],
      ['', 'a', ''],
    );
    await retitle(tables, 'x');
    assert.deepEqual([await found({ terms: ['again'] }), await found({ terms: ['first'] })], ['', 'b']);
  });
}

/** The relevance of all records. @param guarded for a caller who may see only some */
export async function textScores(
  tables: EngineTables,
  search: Partial<TextSearch>,
  guarded: boolean,
  className = 'T',
): Promise<Map<string, number | null>> {
  const table = tables.table(className);
  const guard: Filter = { kind: 'guard', guard: { kind: 'acl', right: 'read', identities: ['*'] }, table };
  const text = searchFilter(tables, search, className);
  const out = new SqlWriter(tables.dialect).add('SELECT "objectId", ');
  writeScore(out, guarded ? { kind: 'and', items: [guard, text] } : text, 't');
  out.add(' FROM ').table(table.sqlName).add(' AS t ORDER BY 1');
  const rows = await tables.run(out.statement());
  return new Map(rows.map(([id, score]) => [id as string, score as number | null]));
}

function searchFilter(tables: EngineTables, search: Partial<TextSearch>, className = 'T'): Filter {
  const whole = { terms: [], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false, ...search };
  return { kind: 'text', table: tables.table(className), search: whole };
}
