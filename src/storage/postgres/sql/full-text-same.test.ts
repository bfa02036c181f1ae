import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { TextSearch } from '../../../query/model/filter.ts';
import { splitTerm } from '../../../query/where/text.ts';
import { prefixedWords } from '../../sql/full-text/hebrew-prefixes.ts';
import { textMatcher, textScorer } from '../../sql/full-text/match.ts';
import { textScores } from '../../sql/testing/full-text-cases.ts';
import type { EngineTables } from '../../sql/testing/tables.ts';
import { TestTables } from '../../sqlite/testing/tables.ts';
import { PostgresTables } from '../testing/tables.ts';

/** Compares random texts and searches, mostly Hebrew, on both engines and in memory. */
const postgres = await PostgresTables.create();
after(() => postgres.close());
const engines: readonly EngineTables[] = [new TestTables(), postgres];

const part = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('בית', 'ית', 'גן', 'שלב', 'תל') },
  { weight: 6, arbitrary: fc.constantFrom(...'והבלכמש') },
  { weight: 6, arbitrary: fc.constant(' ') },
  // Points, an accent, letters with a point, the joiner.
  { weight: 3, arbitrary: fc.constantFrom('\u05b7', '\u05bc', '\u05c1', '\u0596', '\ufb31', '\ufb2a', '\ufb1f', '\u034f') },
  { weight: 2, arbitrary: fc.constantFrom('\u05be', '\u05c3', '\u05f3', '"', '-', "'", '\u200f', '.') },
  { weight: 1, arbitrary: fc.constantFrom('a', 'B', 'é', '1') },
);
const text = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(''));
const RECORDS = 120;
const texts = fc.sample(fc.tuple(text, fc.option(text)), { numRuns: RECORDS, seed: 20240101 });

for (const tables of engines) {
  await tables.make('T', { title: 'String', body: 'String' });
  const add = async ([title, body]: [string, string | null], at: number) =>
    tables.add('T', { objectId: `${1_000 + at}`, title, body });
  const half = RECORDS / 2;
  for (let at = 0; at < half; at++) await add(texts[at] as [string, string | null], at);
  await tables.change({ kind: 'setTextIndex', className: 'T', fields: ['title', 'body'] });
  for (let at = half; at < RECORDS; at++) await add(texts[at] as [string, string | null], at);
}

const search: fc.Arbitrary<TextSearch> = fc
  .record({
    term: text,
    caseSensitive: fc.boolean(),
    diacriticSensitive: fc.boolean(),
  })
  .map(({ term, ...flags }) => ({ ...splitTerm(term), ...flags }));

const same = (a: number | null | undefined, b: number | null) => a === b || Math.abs((a ?? -1) - (b ?? -1)) < 1e-9;

test('both engines find what the shared functions say, and find it as relevant', async () => {
  await fc.assert(
    fc.asyncProperty(search, async (requested) => {
      const found = texts.flatMap((one, at) => (textMatcher(requested)(one) ? [1_000 + at] : [])).join(' ');
      for (const tables of engines) {
        const engine = tables.dialect.constructor.name;
        assert.equal(await tables.ids('T', { kind: 'text', table: tables.table('T'), search: requested }), found, engine);
        // Otherwise SQLite's score uses statistics of all records.
        const guarded = prefixedWords(requested).size === 0;
        const scores = await textScores(tables, requested, guarded);
        for (const [at, one] of texts.entries()) {
          const expected = textScorer(requested)(one);
          assert.ok(same(scores.get(`${1_000 + at}`), expected), `${engine} ${at} ${scores.get(`${1_000 + at}`)} ${expected}`);
        }
      }
    }),
    { numRuns: 300 },
  );
});
