import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldCase, foldedCharacters } from './case-folding.ts';

const folded = new Map(foldedCharacters());
/** By the characters alone. */
const expected = (text: string): string => Array.from(text, (one) => folded.get(one) ?? one.toLowerCase()).join('');

test('every character folds as it does alone, whatever stands beside it', () => {
  for (let point = 1; point <= 0x1ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const one = String.fromCodePoint(point);
    for (const text of [`${one}`, `é${one}`, `${one}éB`, `ΑΣ${one}Σ`, `ıI${one}\u0307ı`])
      if (foldCase(text) !== expected(text)) assert.equal(foldCase(text), expected(text), point.toString(16));
  }
});

test('small texts', () => {
  for (const [text, form] of [
    ['Straße ẞ', 'strasse ss'],
    ['ΟΔΥΣΣΕΥΣ ς', 'οδυσσευσ σ'],
    ['ıIİi', 'ıii̇i'],
    ['ı\0É', 'ı\0é'],
    ['\u05e9\u05b8', '\u05e9\u05b8'],
  ])
    assert.equal(foldCase(text as string), form);
});
