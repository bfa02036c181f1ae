import assert from 'node:assert/strict';
import { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ReservationPool } from '../../admission/reservation-pool.ts';
import { ReservedBytes } from './reserved-bytes.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const bounds = { all: 4, ofSystem: 4, ofCaller: 4 };
const by = (pool: ReservationPool) => ({
  pool,
  sender: () => ({ system: 'a', caller: 'x' }),
  response: new ServerResponse({ method: 'POST' } as never),
  size: 1,
});

test('the bytes of an upload that is under way are let go as they are taken', async () => {
  const made: WeakRef<Buffer>[] = [];
  async function* pieces() {
    for (let n = 0; n < 10; n++) {
      const piece = Buffer.alloc(1_000, n);
      made.push(new WeakRef(piece));
      yield piece;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const bytes = new ReservedBytes(by(new ReservationPool(bounds)), pieces());
  let left: number | undefined;
  for await (const piece of bytes) {
    if (piece[0] !== 8) continue;
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage();
    left = made.slice(0, 7).filter((held) => held.deref() !== undefined).length;
  }
  assert.equal(left, 0);
});

test('an upload whose room is taken away ends with 408, while it waits for bytes and before it asks for them', async () => {
  for (const waitsFirst of [true, false]) {
    const pool = new ReservationPool(bounds);
    async function* pieces() {
      yield Buffer.alloc(1);
      await new Promise(() => {});
    }
    const bytes = new ReservedBytes(by(pool), pieces());
    const reservation = await bytes.wait();
    const reading = bytes[Symbol.asyncIterator]();
    await reading.next();
    if (!waitsFirst) reservation.revoke();
    const next = assert.rejects(reading.next(), { key: 'bodyTooSlow' });
    if (waitsFirst) reservation.revoke();
    await next;
    assert.ok(bytes.isRevoked);
  }
});
