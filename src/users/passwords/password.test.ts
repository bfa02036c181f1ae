import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, meetsPolicy } from './password.ts';

for (const [sentence, password, meets] of [
  ['lower, upper, digit', 'Right1Pass', true],
  ['line breaks count as characters', 'Right1\n\n', true],
  ['what no JSON body may bring would lock its user out: NUL', 'Right1Pass\0', false],
  ['half a surrogate pair', 'Right1Pass\ud800', false],
] as const)
  test(sentence, () => assert.equal(meetsPolicy(password), meets));

test('a new hash has the cost that its parameters name', async () => {
  const turn = { system: 'a', caller: 'b' };
  assert.match(await hashPassword(turn, 'Secret1pass'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});
