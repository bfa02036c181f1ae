import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNameOf, newFileName, parseFileName } from './name.ts';

for (const [fileName, encoded, shown] of [
  ['a.txt', 'a.txt', 'a.txt'],
  ['חשבונית 1.pdf', '%D7%97%D7%A9%D7%91%D7%95%D7%A0%D7%99%D7%AA%201.pdf', 'חשבונית 1.pdf'],
  ["it's (1)*~!.png", 'it%27s%20%281%29%2A%7E%21.png', "it's (1)*~!.png"],
  ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd', '../../etc/passwd'],
  ['a\0\r\nb', 'a%00%0D%0Ab', 'a___b'],
  ['100%', '100%25', '100%'],
  ['\ud800x', '%EF%BF%BDx', '\ufffdx'],
  ['A-b_C.9', 'A-b_C.9', 'A-b_C.9'],
] as const)
  test(`${JSON.stringify(fileName)} is part of a name, and shown again`, () => {
    const { id, name } = newFileName(fileName);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(name, `${id}_${encoded}`);
    assert.equal(fileNameOf(name), shown);
  });

test('a name has 300 characters at most, whatever they are', () => {
  for (const character of ['a', 'א', '😀']) {
    assert.match(newFileName(character.repeat(300)).name, /_/);
    assert.throws(() => newFileName(character.repeat(301)), { key: 'badFileName' });
  }
  assert.throws(() => newFileName(''), { key: 'badFileName' });
  assert.notEqual(parseFileName(newFileName('😀'.repeat(300)).name), null);
});

test('a name is found as it is and decoded', () => {
  const { id, name } = newFileName('דף 1.txt');
  assert.ok(parseFileName(name)?.candidates.includes(name));
  assert.ok(parseFileName(decodeURIComponent(name))?.candidates.includes(name));
  assert.equal(parseFileName(name)?.id, id);
});

test('what has no id is no name', () => {
  for (const given of ['', 'a.txt', `${'A'.repeat(32)}_a`, `${'0'.repeat(31)}_a`, '0'.repeat(32), `../${'0'.repeat(32)}_a`])
    assert.equal(parseFileName(given), null);
  assert.equal(parseFileName(`${'0'.repeat(32)}_${'a'.repeat(5_000)}`), null);
});

test('a name that cannot be decoded is shown as it is', () => assert.equal(fileNameOf(`${'0'.repeat(32)}_%zz`), '%zz'));
