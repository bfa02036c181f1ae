/** The tables, the trigger and the schedule of a world, and a check that they work. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { path } from '../support/records.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { TABLE } from './clients.ts';
import { WITHIN_MS } from './expected.ts';
import type { Ledger } from './ledger.ts';

const CLOCK = 'FaultedClock';
const TICKS = 'FaultedTicks';

/** Creates the tables, the trigger, the schedule, and the record that the schedule fires for. */
export async function prepare({ call }: ServiceProcess): Promise<void> {
  const string = { type: 'String' };
  const fields = { tag: string, a: string, b: string, c: { type: 'Object' }, filler: string };
  const timeline = { displayFields: {}, index: {} };
  const tables = { [TABLE]: { fields, timeline }, [CLOCK]: { fields: { tag: string } }, [TICKS]: { fields: { of: string } } };
  for (const [className, body] of Object.entries(tables)) {
    const { status, text } = await call('POST', `/platform/schemas/${className}`, { body: { className, ...body } });
    assert.equal(status, 200, text);
  }
  const makes = (table: string, values: object) => ({ type: 'create-object', actionData: { table, fields: values } });
  const task = { Name: 'faulted', table: TABLE, events: ['create'], actions: [makes('Tasks', { Name: '{{tag}}' })] };
  const tick = { Name: 'ticks', table: CLOCK, events: ['schedule'], actions: [makes(TICKS, { of: '{{tag}}' })] };
  const schedule = { cron: '* * * * * *', timezone: 'UTC' };
  for (const body of [task, { ...tick, schedule }]) {
    const { status, text } = await call('POST', path('_Trigger'), { body });
    assert.equal(status, 201, text);
  }
  const { status, text } = await call('POST', path(CLOCK), { body: { tag: 'tick' } });
  assert.equal(status, 201, text);
}

/** Asserts that requests on new connections, triggers and the schedule work soon after the end of a fault. @param ended by `performance.now()` */
export async function assertWorks(
  { service, ledger }: { readonly service: ServiceProcess; readonly ledger: Ledger },
  ended: number,
): Promise<void> {
  const until = async (what: string, seen: () => Promise<boolean>) => {
    for (;;) {
      const asked = performance.now();
      if (await seen()) return;
      assert.ok(asked - ended < WITHIN_MS, `${what} not within ${WITHIN_MS} ms of its end`);
      await wait(40);
    }
  };
  const headers = { connection: 'close' };
  const { call } = service;
  const count = async (table: string, where: object) => {
    const answer = await call('GET', path(table), { query: { where, limit: 0, count: 1 }, headers });
    return answer.status === 200 ? (answer.body.count as number) : undefined;
  };
  const nonce = `works${performance.now()}`;
  await until('a create', async () => {
    const tag = `${nonce}-${performance.now()}`;
    const entry = ledger.begin(tag, nonce);
    const body = { tag, a: nonce, b: nonce, c: { nonce } };
    const answer = await call('POST', path(TABLE), { body, headers });
    if (answer.status === 201) {
      entry.created.outcome = 'done';
      entry.objectId = answer.body.objectId;
    } else if (answer.body?.inDoubt !== true) entry.created.outcome = 'refused';
    return answer.status === 201;
  });
  await until('a trigger', async () => ((await count('Tasks', { Name: { $regex: `^${nonce}` } })) ?? 0) > 0);
  let ticks: number | undefined;
  await until('a schedule', async () => {
    const now = await count(TICKS, {});
    ticks ??= now;
    return now !== undefined && ticks !== undefined && now > ticks;
  });
  await until('readiness', async () => (await call('GET', '/health/ready')).status === 200);
}
