import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, TextSearch } from '../../../query/filter.ts';
import { TestTables } from '../testing/tables.ts';

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
