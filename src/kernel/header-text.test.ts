import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncate, withoutCredentials, withoutSecrets } from './header-text.ts';

for (const [sent, kept] of [
  ['https://crm.example/cases/12?tab=2', 'https://crm.example/cases/12?tab=2'],
  ['https://crm.example/tokens/list?page=3', 'https://crm.example/tokens/list?page=3'],
  ['https://crm.example/?id=5&token=abc&tab=2', 'https://crm.example/?id=5&token=***&tab=2'],
  ['/x?accessToken=abc', '/x?accessToken=***'],
  ['/x?api_KEY=abc&a=b', '/x?api_KEY=***&a=b'],
  ['/x?a=b&new-password=a;b?c', '/x?a=b&new-password=***'],
  ['/x?a=b;session=abc', '/x?a=b;session=***'],
  ['/x;jsessionid=abc', '/x;jsessionid=***'],
  ['/x#id_token=abc&state=1', '/x#id_token=***&state=1'],
  ['/x?%74oken=abc', '/x?%74oken=***'],
  ['/x?next=%2Fy%3Ftoken%3Dabc&a=b', '/x?next=***&a=b'],
  ['/x?next=%252Fy%253Fcode%253Dabc', '/x?next=***'],
  ['/x?next=/y?secret=abc', '/x?next=***'],
  ['/x?next=monkeys%26a%3Db', '/x?next=monkeys%26a%3Db'],
  ['/x?auth=', '/x?auth=***'],
  ['https://dana:Secret12@crm.example/x', 'https://crm.example/x'],
  ['https://dana:p@ss@crm.example/x@y', 'https://crm.example/x@y'],
  ['https:\\\\dana:Secret12@crm.example', 'https:\\\\crm.example'],
  ['dana:Secret12@crm.example/x', 'crm.example/x'],
  ['https://crm.example/x?mail=dana@example.com', 'https://crm.example/x?mail=dana@example.com'],
  ['%', '%'],
  ['', ''],
] as const)
  test(`an address without secrets: ${sent}`, () => assert.equal(withoutSecrets(sent), kept));

test('an address as long as headers may be takes next to no time', () => {
  const sent = `/x?a=${'key'.repeat(20_000)}`;
  const started = performance.now();
  assert.equal(withoutSecrets(sent), sent);
  assert.ok(performance.now() - started < 200);
});

for (const [text, end, kept] of [
  ['plain', undefined, 'plain'],
  ['12345678901', undefined, '1234567890'],
  ['/path?query', 5, '/path'],
  ['a\0b', undefined, 'a\ufffdb'],
  ['a\ud800b', undefined, 'a\ufffdb'],
  ['123456789\u{1f600}', undefined, '123456789\ufffd'],
] as const)
  test(`bounded text: ${JSON.stringify(text)}`, () => assert.equal(truncate(text, 10, end), kept));

const token = `r:${'0123456789abcdef'.repeat(2)}`;
for (const [sent, kept] of [
  [`/platform/sessions/${token}`, '/platform/sessions/***'],
  [`/platform/sessions/${encodeURIComponent(token)}`, '/platform/sessions/***'],
  [`${token}${token.toUpperCase()}`, '******'],
  ['curl a-master-key', 'curl ***'],
  ['/x/a%2Fkey%20of%20ours', '/x/***'],
  ['/x/short', '/x/short'],
  ['r:0123', 'r:0123'],
] as const)
  test(`a text without credentials: ${sent}`, () =>
    assert.equal(withoutCredentials(sent, ['a-master-key', 'a/key of ours', 'short']), kept));
