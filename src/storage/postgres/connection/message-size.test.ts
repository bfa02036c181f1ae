import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { watchMessages } from './message-size.ts';

const message = (length: number, sent = length) => {
  const buffer = Buffer.alloc(1 + Math.min(length, sent));
  buffer.write('D');
  buffer.writeUInt32BE(length, 1);
  return buffer;
};

/** Returns how many bytes were read before the message was refused, or all, when they arrive in chunks of this size. */
async function seen(bytes: Buffer, chunk: number): Promise<number> {
  const stream = new PassThrough();
  let gone = 0;
  let passed = 0;
  watchMessages(stream, () => {
    gone += 1;
    stream.destroy();
  });
  for (; passed < bytes.length && gone === 0; passed += chunk) stream.emit('data', bytes.subarray(passed, passed + chunk));
  assert.ok(gone <= 1);
  return gone === 1 ? passed : bytes.length;
}

test('a message that memory should not hold is noticed by its first bytes, however they come', async () => {
  const usual = Buffer.concat([message(4), message(1_000), message(70_000), message(5)]);
  const huge = Buffer.concat([usual, message(900_000_000, 2_000_000)]);
  for (const chunk of [1, 3, 7, 1_000, 65_536]) {
    assert.equal(await seen(usual, chunk), usual.length);
    const at = await seen(huge, chunk);
    assert.ok(at >= usual.length && at <= usual.length + 5 + chunk, `${chunk}: ${at}`);
  }
});
