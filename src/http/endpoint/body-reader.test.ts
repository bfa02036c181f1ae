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
