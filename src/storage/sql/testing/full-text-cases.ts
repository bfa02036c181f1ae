// What `$text` finds, and the relevance by a record's own words, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, TextSearch } from '../../../query/model/filter.ts';
import { MAX_INDEXED_LENGTH } from '../full-text/words.ts';
import { compileUpdate } from '../mutation.ts';
import { writeScore } from '../select.ts';
import { SqlWriter } from '../sql-writer.ts';
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

const hebrewCases: [term: string, found: string][] = [
  ['בית', 'a b c d e f'],
  ['בַּיִת', 'a b c d e f'],
  ['הבית', 'b d g'],
  ['ושבבית', 'c'],
  ['בבית', 'c'],
  ['ביתום', 'g'],
  ['ספר', 'd e'],
  ['בראשית', 'h'],
  ['שלום', 'h'],
  ['ה', ''],
  ['ית', 'a b e f'],
  ['sql', 'i'],
];

/** Records with Hebrew words: plain, with points, and behind prefix letters; some are older than the index. */
async function testHebrew(tables: EngineTables): Promise<void> {
  await tables.make('Hebrew', { title: 'String', body: 'HTML/XML' });
  await tables.add('Hebrew', { objectId: 'a', title: 'בַּיִת קטן' });
  await tables.add('Hebrew', { objectId: 'b', title: 'הַבַּיִת הגדול' });
  await tables.change({ kind: 'setTextIndex', className: 'Hebrew', fields: ['title', 'body'] });
  await tables.add('Hebrew', { objectId: 'c', title: 'ושבבית' });
  await tables.add('Hebrew', { objectId: 'd', title: 'x', body: 'כשהבית ספר' });
  await tables.add('Hebrew', { objectId: 'e', title: 'בֵּית־סֵפֶר, בית' });
  await tables.add('Hebrew', { objectId: 'f', title: 'בּיִת' });
  await tables.add('Hebrew', { objectId: 'g', title: 'וכשהבית', body: 'ביתום' });
  await tables.add('Hebrew', { objectId: 'h', title: 'בְּרֵאשִׁ֖ית׃', body: 'ל"שלום"' });
  await tables.add('Hebrew', { objectId: 'i', title: 'בSQL ב-SQL' });
  const found = (search: Partial<TextSearch>) => tables.ids('Hebrew', searchFilter(tables, search, 'Hebrew'));
  for (const [term, ids] of hebrewCases)
    test(`$text: ${term} behind prefix letters and points`, async () => assert.equal(await found({ terms: [term] }), ids));

  test('$text: phrases are found as they are, what is excluded behind prefix letters, too', async () => {
    assert.equal(await found({ phrases: ['בית'] }), 'a e f');
    assert.equal(await found({ phrases: ['הבית ספר'] }), '');
    assert.equal(await found({ phrases: ['בֵּית ספר'] }), 'e');
    assert.equal(await found({ terms: ['ספר', 'קטן'], excluded: ['בית'] }), '');
    assert.equal(await found({ terms: ['בית'], excluded: ['הבית'] }), 'a c e f');
    assert.equal(await found({ terms: ['בית'], excluded: ['בית ספר'] }), 'a b c d f');
  });

  test('$text: a search that minds diacritics finds words as they are', async () => {
    assert.equal(await found({ terms: ['בית'], caseSensitive: true }), 'a b c d e f');
    assert.equal(await found({ terms: ['ספר'], excluded: ['גן', 'בית'], caseSensitive: true }), '');
    assert.equal(await found({ terms: ['בית'], diacriticSensitive: true }), 'e');
    assert.equal(await found({ terms: ['בַּיִת'], diacriticSensitive: true }), 'a');
    assert.equal(await found({ terms: ['הבית'], diacriticSensitive: true }), '');
  });

  test('$text: so many words are looked for behind prefix letters, the others as they are', async () => {
    const others = Array.from({ length: 9 }, (_, at) => `אאא${String.fromCharCode(0x5d0 + at)}`);
    assert.equal(await found({ terms: [...others, 'sql', 'בית'] }), 'a b c d e f i');
    assert.equal(await found({ terms: [...others, 'גגג', 'בית', 'הבית'] }), 'a b e f');
  });

  test('$text: words as they are come before those behind prefix letters', async () => {
    for (const guarded of [false, true]) {
      const score = await textScores(tables, { terms: ['בית'] }, guarded, 'Hebrew');
      const one = 1 / 2;
      assert.deepEqual(
        [...score],
        [['a', 1], ['b', one], ['c', one], ['d', one], ['e', (2 * 2.2) / 3.2], ['f', 1], ['g', null], ['h', null], ['i', null]], // biome-ignore format: one comparison
      );
      const two = await textScores(tables, { terms: ['בית', 'ספר'], phrases: ['x'] }, guarded, 'Hebrew');
      assert.deepEqual(two.get('d'), 3);
    }
  });

  test('$text: what is indexed of pointed texts follows their changes', async () => {
    await tables.add('Hebrew', { objectId: 'z', title: 'שׁוּלְחָן' });
    assert.equal(await found({ terms: ['שולחן'] }), 'z');
    await retitle(tables, 'כִּסֵּא', 'Hebrew', 'z');
    assert.deepEqual([await found({ terms: ['שולחן'] }), await found({ terms: ['כסא'] })], ['', 'z']);
    await retitle(tables, '', 'Hebrew', 'z');
  });
}

/** Creates a table with a text index, with some records older than the index, and defines the tests. */
export async function testFullText(tables: EngineTables): Promise<void> {
  await testLongTexts(tables);
  await testHebrew(tables);
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

/** Returns a text whose last word but one, of five letters, ends where the indexed part ends. */
const long = (last: string) => `first ${'𝒳 '.repeat(MAX_INDEXED_LENGTH / 2 - 6)}${last} beyond`;

async function retitle(tables: EngineTables, value: string, className = 'Cut', objectId = 'a'): Promise<void> {
  const assignments = [{ kind: 'set', field: tables.field(className, 'title'), value }] as const;
  const update = { kind: 'update', table: tables.table(className), objectId, guard: null, assignments, returning: [] } as const;
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

/** Returns the relevance of all records. @param guarded for a caller that may see only some */
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
