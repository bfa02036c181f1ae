import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, TextSearch } from '../../../query/filter.ts';
import { writeScore } from '../../sql/score.ts';
import { SqlWriter } from '../../sql/writer.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteDialect } from './dialect.ts';

const tables = new TestTables();
tables.define('T', { title: 'String', body: 'HTML/XML', other: 'String' });
tables.insert('T', { objectId: 'a', title: 'Coffee shop', body: 'best Café in town' });
tables.insert('T', { objectId: 'b', title: 'coffee', body: 'a shop far away "quoted"' });
tables.change({ kind: 'setTextIndex', className: 'T', fields: ['title', 'body'] });
tables.insert('T', { objectId: 'c', title: 'שלום עולם', other: 'coffee' });
tables.insert('T', { objectId: 'd', title: 'tea', body: 'shop coffee OR NOT' });
tables.insert('T', { objectId: 'e' });

const find = (search: Partial<TextSearch>) => {
  const whole = { terms: [], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false, ...search };
  const filter: Filter = { kind: 'text', table: tables.table('T'), search: whole };
  assert.doesNotThrow(() => tables.find('T', { kind: 'not', item: filter }));
  return tables.find('T', filter);
};

const cases: [name: string, search: Partial<TextSearch>, found: string][] = [
  ['any of the terms', { terms: ['tea', 'cafe'] }, 'a d'],
  ['columns without index are not searched', { terms: ['COFFEE'] }, 'a b d'],
  ['a phrase', { phrases: ['coffee shop'] }, 'a'],
  ['a phrase and terms: the phrase decides', { phrases: ['coffee shop'], terms: ['tea'] }, 'a'],
  ['all phrases', { phrases: ['coffee', 'shop far'] }, 'b'],
  ['excluded words', { terms: ['coffee'], excluded: ['tea', 'town'] }, 'b'],
  ['only excluded words', { excluded: ['tea'] }, ''],
  ['nothing at all', {}, ''],
  ['another script', { terms: ['עולם'] }, 'c'],
  ['words of the query language are words', { terms: ['OR'] }, 'd'],
  ['quotes and operators do nothing', { terms: ['"', 'title : tea', '*', 'NEAR(', 'quoted"'] }, 'b'],
  ['a term of signs only', { terms: ['!!'] }, ''],
  ['case-sensitive', { terms: ['Coffee'], caseSensitive: true }, 'a'],
  ['case-sensitive phrase', { phrases: ['coffee shop'], caseSensitive: true }, ''],
  ['case-sensitive exclusion', { terms: ['shop'], excluded: ['Coffee'], caseSensitive: true }, 'b d'],
  ['diacritic-sensitive', { terms: ['cafe'], diacriticSensitive: true }, ''],
  ['diacritic-sensitive, found', { terms: ['CAFÉ'], diacriticSensitive: true }, 'a'],
];

for (const [name, search, found] of cases) test(`$text: ${name}`, () => assert.equal(find(search), found));

test('relevance for a caller who sees some records is that of each by itself', () => {
  const guard: Filter = { kind: 'guard', guard: { kind: 'acl', right: 'read', identities: ['*'] }, table: tables.table('T') };
  const scores = (search: Partial<TextSearch>, guarded: boolean) => {
    const whole = { terms: [], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false, ...search };
    const text: Filter = { kind: 'text', table: tables.table('T'), search: whole };
    const out = new SqlWriter(sqliteDialect).add('SELECT "objectId", ');
    writeScore(out, guarded ? { kind: 'and', items: [guard, text] } : text, 't');
    out.add(' FROM "t_T" AS t ORDER BY 1');
    return new Map(tables.run(out.statement()).map(([id, score]) => [id as string, score as number | null]));
  };
  const search = { terms: ['café', 'shop'] };
  const before = scores(search, true);
  const beforeForAll = scores(search, false);
  assert.deepEqual(
    [...before].map(([id, score]) => `${id} ${score}`),
    ['a 2', 'b 1', 'c null', 'd 1', 'e null'],
  );
  tables.insert('T', { objectId: 'f', title: 'shop shop', body: 'SHOP' });
  const after = scores(search, true);
  assert.deepEqual([...after].slice(0, 5), [...before]);
  assert.ok(Math.abs((after.get('f') ?? 0) - (3 * 2.2) / (3 + 1.2)) < 1e-9);
  assert.notEqual(scores(search, false).get('b'), beforeForAll.get('b'), 'what the index tells is of all records');
  assert.deepEqual(scores({ phrases: ['shop far'], terms: ['coffee'] }, true).get('b'), 2);
  assert.equal(scores({ phrases: ['shop far'], terms: ['coffee'] }, true).get('a'), null);
});
