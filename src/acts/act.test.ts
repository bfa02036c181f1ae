import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whoOfUser } from './act.ts';

test('a user of another service, whose id looks like the name of another actor, is told apart', () => {
  const ids = ['abcdefghij', 'cli', 'key:default', 'master', 'user:cli', 'client', 'monkey:'];
  assert.deepEqual(ids.map(whoOfUser), [
    'abcdefghij',
    'user:cli',
    'user:key:default',
    'user:master',
    'user:cli',
    'client',
    'monkey:',
  ]);
});
