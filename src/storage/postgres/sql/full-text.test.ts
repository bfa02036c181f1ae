import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TextSearch } from '../../../query/model/filter.ts';
import { textMatcher, textScorer } from '../../sql/full-text/match.ts';
import { testFullText, textScores } from '../../sql/testing/full-text-cases.ts';
import { PostgresTables } from '../testing/tables.ts';
import { vectorOf } from './full-text-vector.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testFullText(tables);

test('a vector holds folded words and their positions', () => {
  assert.equal(vectorOf("It's Café, CAFE!"), "'it':1 's':2 'cafe':3,4");
  assert.equal(vectorOf(' \u0301! '), '');
  assert.equal(vectorOf('כשבית הבית'), "'~שבית' '~בית' '~ית' 'כשבית':1 'הבית':2");
  assert.equal(Buffer.byteLength(vectorOf('é'.repeat(3000))), 2046 + 4);
  assert.equal(Buffer.byteLength(vectorOf('ת'.repeat(3000))), 2046 + 4);
});

const whole = (search: Partial<TextSearch>): TextSearch => ({
  terms: [],
  phrases: [],
  excluded: [],
  caseSensitive: false,
  diacriticSensitive: false,
  ...search,
});

/** Compares matches and scores with those of the shared functions over the texts. */
async function searchLong(className: string, texts: [string, string | null][], searches: Partial<TextSearch>[]): Promise<void> {
  await tables.make(className, { text: 'String', second: 'String' });
  await tables.change({ kind: 'setTextIndex', className, fields: ['text', 'second'] });
  for (const [at, [text, second]] of texts.entries()) await tables.add(className, { objectId: String(at), text, second });
  const close = (a: number | null, b: number | null) => a === b || Math.abs((a ?? -1) - (b ?? -1)) < 1e-9;
  for (const search of searches) {
    const searched = whole(search);
    const sentence = JSON.stringify(search).slice(0, 100);
    const found = texts.flatMap((text, at) => (textMatcher(searched)(text) ? [at] : [])).join(' ');
    assert.equal(
      await tables.ids(className, { kind: 'text', table: tables.table(className), search: searched }),
      found,
      sentence,
    );
    const scores = await textScores(tables, search, false, className);
    for (const [at, text] of texts.entries())
      assert.ok(close(scores.get(String(at)) ?? null, textScorer(searched)(text)), `${at} ${sentence}`);
  }
}

test('texts with more words than a vector has positions for are searched as all others', async () => {
  const texts: [string, string | null][] = [
    [`${'one '.repeat(400)} ΟΔΟΣ one Two! thrée`, null],
    [`${'ab cd '.repeat(10_000)} one two three`, 'one'],
    ['two one', 'x'.repeat(5_000)],
  ];
  await searchLong('Long', texts, [
    { phrases: ['two three'] },
    { phrases: ['οδοσ one'] },
    { terms: ['two'], excluded: ['two three'] },
    { phrases: ['one two'], caseSensitive: true },
    { phrases: ['two three'], diacriticSensitive: true },
    { phrases: ['one Two thrée'], caseSensitive: true, diacriticSensitive: true },
    { terms: ['x'.repeat(5_000)] },
    { phrases: ['one one one'] },
    { phrases: [Array(3_000).fill('ab cd').join(' ')] },
  ]);
});

test('texts with more different words than a vector holds are searched as all others', async () => {
  const word = (at: number) => `w${at}${'語'.repeat(15)}`;
  const different = Array.from({ length: 20_000 }, (_, at) => word(at)).join(' ');
  assert.match(vectorOf(different), /^'~p' '~w' /);
  await searchLong(
    'Wide',
    [[`${different} one TWO three`, null]],
    [
      { terms: [word(19_999), 'nothing'] },
      { phrases: ['two three'], excluded: ['three two'] },
      { terms: [word(1)], excluded: [`${word(19_999)} one`] },
    ],
  );
});

test('an index of records that are there has the words of all of them', async () => {
  await tables.make('Before', { text: 'String' });
  for (let at = 0; at < 60; at++)
    await tables.add('Before', { objectId: String(at), text: at % 7 === 0 ? null : `word ${'x '.repeat(at * 5_000)}` });
  await tables.change({ kind: 'setTextIndex', className: 'Before', fields: ['text'] });
  const found = await tables.ids('Before', { kind: 'text', table: tables.table('Before'), search: whole({ terms: ['word'] }) });
  assert.equal(found.split(' ').length, 51);
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
