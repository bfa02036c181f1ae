import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, master } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { grant, narrowGrant, table } from '../testing/fixture.ts';
import { parseText, splitTerm } from './text.ts';

const terms: ReadonlyArray<readonly [term: string, terms: string[], phrases: string[], excluded: string[]]> = [
  ['blue cat', ['blue', 'cat'], [], []],
  ['"big, blue" cat', ['cat'], ['big blue'], []],
  ['cat -dog -"wet dog"', ['cat'], [], ['dog', 'wet dog']],
  ['well-known', ['well', 'known'], [], []],
  ['שלום עולם', ['שלום', 'עולם'], [], []],
  ['a a "open', ['a'], ['open'], []],
  ['!!! --', [], [], []],
];
for (const [term, ...expected] of terms)
  test(`term: ${term}`, () => {
    const split = splitTerm(term);
    assert.deepEqual([split.terms, split.phrases, split.excluded], expected);
  });

test('nothing to find', () => assert.deepEqual(parseText({ $search: { $term: '-cat' } }, grant), { kind: 'never' }));

const refusals: ReadonlyArray<readonly [value: JsonValue, key: string]> = [
  ['cat', 'badConstraint'],
  [{ $search: 'cat' }, 'badConstraint'],
  [{ $search: { $term: '' } }, 'badConstraint'],
  [{ $search: { $term: 5 } }, 'badConstraint'],
  [{ $search: { $term: 'a', $language: 1 } }, 'badConstraint'],
  [{ $search: { $term: 'a', $caseSensitive: 'yes' } }, 'badConstraint'],
  [{ $search: { $term: 'a '.repeat(6_000) } }, 'badQuery'],
];
for (const [value, key] of refusals)
  test(`refused: ${JSON.stringify(value).slice(0, 60)}`, () =>
    assert.throws(
      () => parseText(value, grant),
      (error) => error instanceof ServiceError && error.key === key,
    ));

test('a table without a text index, and an index over a hidden field', () => {
  const search = { $search: { $term: 'a' } };
  assert.throws(
    () => parseText(search, authorize(master, 'find', table('Accounts'))),
    (error) => error instanceof ServiceError && error.status === 500,
  );
  assert.throws(
    () => parseText(search, { ...narrowGrant, hiddenFields: new Set(['Name']) }),
    (error) => error instanceof ServiceError && error.key === 'fieldDenied',
  );
});
