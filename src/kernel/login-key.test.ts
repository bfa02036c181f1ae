import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginKey } from './login-key.ts';

for (const [sentence, one, other] of [
  ['case', 'Dana@Example.COM', 'dana@example.com'],
  ['spaces around', ' dana\t', 'dana'],
  ['forms of one character', 'Å\u212B\u0041\u030A', 'åå\u00E5'],
  ['wide letters', 'ｄａｎａ', 'dana'],
] as const)
  test(`${sentence} are the same`, () => assert.equal(loginKey(one), loginKey(other)));

test('a text longer than any name is compared as it is, in no time', () => {
  const marks = '\u0345\u0300'.repeat(500_000);
  const started = performance.now();
  assert.equal(loginKey(marks), marks);
  assert.ok(performance.now() - started < 1_000);
});
