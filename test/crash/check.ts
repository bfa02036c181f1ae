/** Setup and verification of the crash suites. */
import assert from 'node:assert/strict';
import type { Service } from '../support/service.ts';
import type { CounterModel, RecordModel } from './model.ts';
import { counterPath, table } from './writers.ts';

/** Number of kills. CRASH_CYCLES sets more of them for a long run. */
export const CYCLES = Number(process.env.CRASH_CYCLES ?? 3);

/** Creates the tables. */
export async function prepare(service: Service): Promise<void> {
  const fields = { tag: { type: 'String' }, a: { type: 'String' }, b: { type: 'String' }, c: { type: 'Object' } };
  const made = await service.call('POST', `/platform/schemas/${table}`, { body: { className: table, fields } });
  assert.equal(made.status, 200, made.text);
  const body = { objectId: 'counter', n: 0, m: 0 };
  const created = await service.call('POST', '/platform/classes/CrashCounter', { body });
  assert.equal(created.status, 201, created.text);
}

/** Compares the stored records with the states that the models allow. */
export async function verify(service: Service, records: RecordModel, counter: CounterModel, cycle: number): Promise<void> {
  const listed = await service.call('GET', `/platform/classes/${table}`, { query: { limit: 1_000_000, count: 1 } });
  assert.equal(listed.status, 200, `after kill ${cycle}: ${listed.text}`);
  assert.equal(listed.body.count, listed.body.results.length);
  records.verify(listed.body.results);
  const { status, body, text } = await service.call('GET', counterPath);
  assert.equal(status, 200, `after kill ${cycle}: ${text}`);
  counter.verify(body.n, body.m);
}
