import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decodeBase64 } from './base64.ts';

const read = async (text: string): Promise<Buffer> => Buffer.concat(await Array.fromAsync(decodeBase64(text)));
const refused = (text: string) =>
  assert.rejects(read(text), { message: 'Invalid upload: base64 is not valid' }, text.slice(0, 20));

test('bytes come back, whatever their number', async () => {
  for (const size of [0, 1, 2, 3, 4, 1024, 786_431, 786_432, 786_433, 3_000_001]) {
    const bytes = randomBytes(size);
    const text = bytes.toString('base64');
    assert.ok((await read(text)).equals(bytes), `${size}`);
    assert.ok((await read(text.replace(/=+$/, ''))).equals(bytes), `${size} without padding`);
  }
});

test('letters of addresses, white space and the head of a data: address are taken', async () => {
  const bytes = randomBytes(1_000);
  assert.ok((await read(bytes.toString('base64url'))).equals(bytes));
  const lines = bytes.toString('base64').replace(/(.{76})/g, '$1\r\n');
  assert.ok((await read(`${lines}\n`)).equals(bytes));
  assert.ok((await read(`data:image/png;base64,${lines}`)).equals(bytes));
});

test('anything else is refused', async () => {
  for (const text of ['!', 'a', 'abcde', 'ab=', 'ab===', 'ab==cd', '=', '====', 'אבגד', 'abcd\u0000']) await refused(text);
  await refused(`${'a'.repeat(1024 * 1024)}!`);
  await refused(`${'a'.repeat(1024 * 1024 - 2)}==${'a'.repeat(4)}`);
});
