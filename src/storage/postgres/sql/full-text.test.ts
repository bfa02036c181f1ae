import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TextSearch } from '../../../query/filter.ts';
import { textMatcher, textScorer } from '../../sql/full-text/match.ts';
import { testFullText, textScores } from '../../sql/testing/full-text-cases.ts';
import { PostgresTables } from '../testing/tables.ts';
import { vectorOf } from './full-text.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testFullText(tables);

test('a vector holds folded words and their positions', () => {
  assert.equal(vectorOf("It's Café, CAFE!"), "'it':1 's':2 'cafe':3,4");
  assert.equal(vectorOf(' \u0301! '), '');
  assert.equal(Buffer.byteLength(vectorOf('é'.repeat(3000))), 2046 + 4);
  assert.equal(Buffer.byteLength(vectorOf('ש'.repeat(3000))), 2046 + 4);
});

const whole = (search: Partial<TextSearch>): TextSearch => ({
  terms: [],
  phrases: [],
  excluded: [],
  caseSensitive: false,
  diacriticSensitive: false,
  ...search,
});

test('texts that are too long for a vector are searched as all others', async () => {
  await tables.make('Long', { text: 'String', second: 'String' });
  await tables.change({ kind: 'setTextIndex', className: 'Long', fields: ['text', 'second'] });
  const different = Array.from({ length: 120_000 }, (_, at) => `word${at}`).join(' ');
  const texts: [string, string | null][] = [
    [`${'one '.repeat(400)} ΟΔΟΣ one Two! thrée`, null],
    [`${'ab cd '.repeat(10_000)} one two three`, 'one'],
    [`${different} one TWO three`, null],
    ['two one', 'x'.repeat(5_000)],
  ];
  for (const [at, [text, second]] of texts.entries()) {
    assert.ok(vectorOf(text).length < 2_500_000);
    await tables.add('Long', { objectId: String(at), text, second });
  }
  const searches: Partial<TextSearch>[] = [
    { phrases: ['two three'] },
    { phrases: ['οδοσ one'] },
    { phrases: ['one'], terms: ['word119999'] },
    { terms: ['word119999', 'nothing'] },
    { phrases: ['one two'], excluded: ['word119999 one'] },
    { terms: ['two'], excluded: ['two three'] },
    { phrases: ['one two'], caseSensitive: true },
    { phrases: ['two three'], diacriticSensitive: true },
    { phrases: ['one TWO three'], caseSensitive: true, diacriticSensitive: true },
    { terms: ['x'.repeat(5_000)] },
    { phrases: ['one one one'] },
    { phrases: [Array(3_000).fill('ab cd').join(' ')] },
  ];
  for (const search of searches) {
    const searched = whole(search);
    const found = texts.flatMap((text, at) => (textMatcher(searched)(text) ? [at] : [])).join(' ');
    const filter = { kind: 'text', table: tables.table('Long'), search: searched } as const;
    assert.equal(await tables.ids('Long', filter), found, JSON.stringify(search).slice(0, 100));
    const scores = await textScores(tables, search, false, 'Long');
    const close = (a: number | null, b: number | null) => a === b || Math.abs((a ?? -1) - (b ?? -1)) < 1e-9;
    for (const [at, text] of texts.entries())
      assert.ok(
        close(scores.get(String(at)) ?? null, textScorer(searched)(text)),
        `${at} ${JSON.stringify(search).slice(0, 100)}`,
      );
  }
});

test('an index answers a search', async () => {
  await tables.make('Many', { text: 'String', second: 'String' });
  await tables.change({ kind: 'setTextIndex', className: 'Many', fields: ['text', 'second'] });
  const { sqlName } = tables.table('Many');
  const name = tables.dialect.table(sqlName);
  await tables.run({
    text: `INSERT INTO ${name} ("objectId", "createdAt", "updatedAt", "text", "v~text") SELECT i::text, 0, 0, 'word' || i, array_to_tsvector(ARRAY['word' || i]) FROM generate_series(1, 20000) AS i`,
    params: [],
  });
  await tables.run({ text: `VACUUM ANALYZE ${name}`, params: [] });
  for (const search of [
    { terms: ['word5', 'word7'] },
    { phrases: ['word5 word7', 'word9'], excluded: ['x'] },
    { terms: ['Word5'], caseSensitive: true },
  ]) {
    const plan = await tables.plan(tables.compile('Many', { kind: 'text', table: tables.table('Many'), search: whole(search) }));
    assert.match(plan, /Bitmap Index Scan/);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});
