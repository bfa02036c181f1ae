import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import { hashKey, KeyGuard } from './system.ts';

let now = 0;
let told: string[];
let looks = 0;
let guard: KeyGuard;
beforeEach(() => {
  told = [];
  guard = new KeyGuard(
    (network) => told.push(network),
    () => now,
  );
});

/** Sends a key. @returns seconds after which to retry; `null` if the key was checked */
function send(key: string, { address = '192.0.2.1', isRight = false } = {}): number | null {
  try {
    const look = () => {
      looks++;
      return isRight ? 'owner' : undefined;
    };
    assert.equal(guard.trialOf(address).judge(key, hashKey('salt', key), look), isRight ? 'owner' : undefined);
    return null;
  } catch (error) {
    assert.ok(error instanceof TooManyRequests);
    return error.retryAfter;
  }
}
const tryOut = (count: number, address?: string) => {
  for (let n = 0; n < count; n++) assert.equal(send(`wrong ${n}`, { ...(address && { address }) }), null, `${n}`);
};

test('a hundred different wrong keys are looked at; then no short one that has not proved right, until the minute is over', () => {
  assert.equal(send('right', { isRight: true }), null);
  tryOut(100);
  assert.deepEqual([send('another'), send('wrong 1'), send('unproved', { isRight: true })], [60, 60, 60]);
  assert.equal(send('right', { isRight: true }), null);
  now += 59_500;
  assert.equal(send('another'), 1);
  assert.deepEqual(told, ['192.0.2.1']);
  now += 500;
  tryOut(100);
  assert.equal(send('another'), 60);
  assert.equal(told.length, 2);
});

test('one wrong key again and again is no trying out', () => {
  for (let n = 0; n < 1_000; n++) assert.equal(send('wrong'), null);
  assert.equal(send('right', { isRight: true }), null);
});

test('networks are counted each by itself, IPv6 by the /64', () => {
  tryOut(100);
  assert.equal(send('another', { address: '192.0.2.2' }), null);
  tryOut(50, '2001:db8::1');
  for (let n = 50; n < 100; n++) assert.equal(send(`wrong ${n}`, { address: `2001:db8::${n}` }), null);
  assert.equal(send('another', { address: '2001:db8::ffff' }), 60);
  assert.equal(send('another', { address: '2001:db8:0:1::1' }), null);
});

test('a key that nobody finds by trying is looked at however many were wrong; a wrong one is refused all the same', () => {
  const long = (name: string) => `${name} of twenty characters`;
  for (let n = 0; n < 100; n++) assert.equal(send(long(`wrong ${n}`)), null);
  assert.deepEqual([send(long('another')), send(long('wrong 1')), send('another')], [60, 60, 60]);
  assert.equal(send(long('right'), { isRight: true }), null);
  assert.deepEqual([send('x'.repeat(19), { isRight: true }), send('x'.repeat(20), { isRight: true })], [60, null]);
  looks = 0;
  for (let n = 0; n < 1_000; n++) send(`short ${n}`);
  assert.equal(looks, 0);
});

test('a key that was right and is revoked is refused as any other', () => {
  send('revoked', { isRight: true });
  tryOut(100);
  assert.equal(send('revoked'), 60);
});
