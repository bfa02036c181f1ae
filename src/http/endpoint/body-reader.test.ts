import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ReservationPool } from '../../admission/reservation-pool.ts';
import { ServiceError } from '../../errors/fail.ts';
import { readBody } from './body-reader.ts';

for (const bytes of [10, 40_000])
  test(`a client that leaves in its body after ${bytes} bytes is no fault of ours, and leaves its place`, async () => {
    const pool = new ReservationPool({ all: 100_000, ofSystem: 100_000, ofCaller: 100_000 });
    const payload = Object.assign(new PassThrough(), { headers: { 'content-length': '100000' } });
    const read = new Promise<Error | null>((resolve) => {
      const reserve = (size: number) => pool.request({ system: '', caller: 'a' }, size);
      readBody({ payload: payload as unknown as IncomingMessage, maxBytes: 200_000, reserve }, resolve);
    });
    payload.write(Buffer.alloc(bytes));
    setImmediate(() => payload.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })));
    const error = await read;
    assert.ok(error instanceof ServiceError && error.key === 'badRequest');
    const next = pool.request({ system: '', caller: 'b' }, 100_000);
    assert.ok(next.isGranted);
    next.release();
  });

test('the pieces of a long body are received in several turns of the event loop', async () => {
  const pool = new ReservationPool({ all: 1e9, ofSystem: 1e9, ofCaller: 1e9 });
  const piece = Buffer.alloc(1024 * 1024, 'a');
  const payload = Object.assign(new PassThrough(), { headers: { 'content-length': String(30 * piece.length) } });
  const reserve = (size: number) => pool.request({ system: '', caller: 'a' }, size);
  const read = new Promise<string | undefined>((resolve, reject) => {
    readBody({ payload: payload as unknown as IncomingMessage, maxBytes: 1e9, reserve }, (error, text) =>
      error ? reject(error) : resolve(text),
    );
  });
  let inTurn = 0;
  let most = 0;
  let isOver = false;
  payload.on('data', ({ length }: Buffer) => {
    inTurn += length;
    most = Math.max(most, inTurn);
  });
  const turn = () => {
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  for (let n = 0; n < 30; n++) payload.write(piece);
  payload.end();
  assert.equal((await read)?.length, 30 * piece.length);
  isOver = true;
  assert.ok(most <= 8 * piece.length, `${most}`);
});
