import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whoOfUser } from './act.ts';
import { valueUnder } from './bounded.ts';

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

test('what a name says to be a secret is hidden, at any depth, and also beside its name', () => {
  const value = {
    headers: [
      { name: 'Authorization', value: 'Bearer abc' },
      { Name: 'Accept', Value: 'text/plain' },
    ],
    smtp: { Password: 'abc', host: 'h' },
    url: 'https://u:abc@example.com/?a=1&token=abc',
  };
  assert.deepEqual(valueUnder(['Value'], value), {
    headers: [
      { name: 'Authorization', value: '***' },
      { Name: 'Accept', Value: 'text/plain' },
    ],
    smtp: { Password: '***', host: 'h' },
    url: 'https://example.com/?a=1&token=***',
  });
  assert.equal(valueUnder(['Value', 'ApiKey'], value), '***');
  assert.equal(valueUnder(['ApiKey'], null), null);
});
