// What a search index finds, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowGuard } from '../../../access/index.ts';
import type { Filter, SearchWords } from '../../../query/model/filter.ts';
import { fieldOf } from '../../../schema/model.ts';
import { SEARCH_INDEX, wantedSearchIndex } from '../../../schema/search-index.ts';
import { compileUpdate } from '../mutation.ts';
import type { EngineTables } from './tables.ts';

/** Words match by their beginning; those that end with a dot match whole words. */
interface Search extends Partial<Omit<SearchWords, 'words'>> {
  readonly words: readonly string[];
}

const cases: [name: string, search: Search, found: string][] = [
  ['a word', { words: ['כהן'] }, 'a b'],
  ['the beginning of a word', { words: ['כה'] }, 'a b e'],
  ['a whole word', { words: ['כהן.'] }, 'a b'],
  ['a whole word that is a beginning', { words: ['כה.'] }, ''],
  ['all words, in whatever field', { words: ['כהן', 'dana'] }, 'a'],
  ['no capitals', { words: ['élan'] }, 'd'],
  ['parts of an address', { words: ['dana', 'example', 'com'] }, 'a'],
  ['a number in a text', { words: ['5101'] }, 'd'],
  ['a number', { words: ['nothing'], tokens: ['77'] }, 'd'],
  ['the end of a phone', { words: ['nothing'], tokens: ['p1234567'] }, 'a b c'],
  ['the beginning of a phone', { words: ['nothing'], starts: ['050123'] }, 'a b c'],
  ['another one', { words: ['nothing'], starts: ['051'], tokens: ['p7654321'] }, ''],
  ['what is not looked up by', { words: ['tel'] }, ''],
  ['what stands far behind', { words: ['behind'] }, ''],
  ['nothing', { words: [] }, ''],
];

const wordsOf = (words: readonly string[]) => words.map((word) => ({ word: word.replace('.', ''), isWhole: word.endsWith('.') }));

/** Creates a table with a search index, with some records older than the index, and defines the tests. */
export async function testSearch(tables: EngineTables): Promise<void> {
  const long = `first ${'x '.repeat(150)} behind`;
  await tables.make('S', {
    Name: 'String',
    Email: 'String',
    Mobile: 'String',
    CompanyId: 'String',
    City: 'String',
    QuoteNumber: 'Number',
  });
  await tables.add('S', { objectId: 'a', Name: 'משה כהן', Email: 'Dana@example.com', Mobile: '050-123-4567' });
  await tables.add('S', { objectId: 'b', Name: 'כהן', Mobile: '+972 50 1234567' });
  /** Recreates the index. */
  const set = async () => {
    const index = wantedSearchIndex(tables.table('S')) ?? assert.fail();
    await tables.change({ kind: 'setIndex', className: 'S', index });
  };
  await set();
  await tables.add('S', { objectId: 'c', Mobile: '00972501234567', City: 'Tel Aviv' });
  await tables.add('S', { objectId: 'd', Name: 'ÉLAN', CompanyId: '510123456', QuoteNumber: 77 });
  await tables.add('S', { objectId: 'e', Name: 'כהנא', Mobile: '', QuoteNumber: 1e300 });
  await tables.add('S', { objectId: 'f', Name: long });
  await tables.add('S', { objectId: 'g' });

  const filterOf = ({ words, ...more }: Search, guard: RowGuard | null = null): Filter => {
    const table = tables.table('S');
    const fields = (table.indexes.get(SEARCH_INDEX)?.keys ?? []).map(([name]) => fieldOf(table, name));
    return {
      kind: 'candidates',
      table,
      guard,
      search: { words: wordsOf(words), tokens: [], starts: [], limit: 100, fields, ...more },
    };
  };
  const found = (search: Search, guard?: RowGuard) => tables.ids('S', filterOf(search, guard));

  let fillers = 0;
  /** Adds records until those listed as changed are in the index: before that they count as found. */
  const settle = async () => {
    while ((await found({ words: ['nothing'] })) !== '') await tables.add('S', { objectId: `filler${fillers++}` });
  };
  await settle();

  for (const [name, search, ids] of cases) test(`a search index: ${name}`, async () => assert.equal(await found(search), ids));

  test('a search index: it ends with the limit, of records that the caller may find', async () => {
    assert.equal((await found({ words: ['כה'], limit: 2 })).split(' ').length, 2);
    const guard: RowGuard = { kind: 'acl', right: 'read', identities: ['*'] };
    assert.equal(await found({ words: ['כה'], limit: 2 }, guard), await found({ words: ['כה'], limit: 2 }));
  });

  test('a search index: it follows changes, and lives on with other fields', async () => {
    await tables.add('S', { objectId: 'z', Name: 'לוי', Email: 'z@example.com' });
    const assignments = [{ kind: 'set', field: tables.field('S', 'Name'), value: 'פרץ' }] as const;
    await tables.run(
      compileUpdate(
        { kind: 'update', table: tables.table('S'), objectId: 'z', guard: null, assignments, returning: [] },
        tables.dialect,
      ),
    );
    assert.match(await found({ words: ['פרץ'] }), /z/);
    await settle();
    assert.deepEqual([await found({ words: ['לוי'] }), await found({ words: ['פרץ'] })], ['', 'z']);
    await tables.change({ kind: 'dropField', className: 'S', name: 'Email' });
    assert.equal(tables.table('S').indexes.has(SEARCH_INDEX), false);
    await tables.add('S', { objectId: 'y', Name: 'יוסי' });
    await set();
    assert.deepEqual([await found({ words: ['יוסי'] }), await found({ words: ['dana'] })], ['y', '']);
    await tables.run({
      text: `DELETE FROM ${tables.dialect.table(tables.table('S').sqlName)} WHERE "objectId" = 'y'`,
      params: [],
    });
    assert.equal(await found({ words: ['יוסי'] }), '');
    await tables.change({ kind: 'dropIndex', className: 'S', name: SEARCH_INDEX });
    await tables.add('S', { objectId: 'x' });
  });

  test('the records that were made last', async () => {
    const table = tables.table('S');
    assert.equal(await tables.ids('S', { kind: 'newest', table, count: 1 }), 'x');
  });
}
