import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../src/words/en.ts';
import { he } from '../src/words/he.ts';

type Tree = { readonly [key: string]: unknown };

function texts(tree: Tree, path = ''): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]): [string, string][] => {
    if (typeof value === 'string') return [[path + key, value]];
    if (typeof value === 'function') return [1, 2, 7].map((count) => [`${path}${key}(${count})`, value(count, count)]);
    return texts(value as Tree, `${path}${key}.`);
  });
}

test('both languages have the same texts, and none is empty', () => {
  const hebrew = texts(he);
  assert.deepEqual(
    hebrew.map(([key]) => key),
    texts(en).map(([key]) => key),
  );
  for (const [key, text] of [...hebrew, ...texts(en)]) assert.ok(text, key);
});

test('texts of one language hold no letters of the other', () => {
  const shared = new Set(['timeline.between', 'product', 'otherLanguage', 'me.thisLanguage', 'fields.none']);
  for (const [key, text] of texts(he)) if (!shared.has(key)) assert.match(text, /[א-ת]/, key);
  for (const [key, text] of texts(en)) if (!shared.has(key)) assert.doesNotMatch(text, /[א-ת]/, key);
});

test('a name inside of a sentence turns nothing around it', () => {
  for (const { deletion, search } of [en, he])
    for (const text of [deletion.title('Acme Ltd.'), search.titleOf('דנה (VIP)'), search.none('3')])
      assert.match(text, /[“״]\u2068[^\u2069]+\u2069[”״]/);
});
