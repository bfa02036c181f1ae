import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { QueryObservation } from './observations.ts';
import { SlowQueryLog } from './slow-query-log.ts';

interface Logged {
  readonly facts: Record<string, unknown>;
  readonly message: string;
}

function logOf(): { lines: Logged[]; log: SlowQueryLog; pass(ms: number): void } {
  const lines: Logged[] = [];
  let now = 0;
  const warn = (facts: Record<string, unknown>, message: string) => void lines.push({ facts, message });
  const log = new SlowQueryLog({ warn } as never, () => now);
  return {
    lines,
    log,
    pass(ms) {
      now += ms;
    },
  };
}

const query = (more: Partial<QueryObservation> = {}): QueryObservation => ({
  kind: 'query',
  system: 'app',
  table: 'Accounts',
  operation: 'find',
  ms: 1_234.5,
  rows: 7,
  isTimedOut: false,
  shape: () => ({ where: { City: '$eq' }, order: ['-createdAt'] }),
  ...more,
});

test('a line has the shape, the time, the rows and the plan', async () => {
  const { lines, log } = logOf();
  log.observed(query({ plan: async () => ['scan'] }));
  await turn();
  const facts = { system: 'app', table: 'Accounts', operation: 'find', where: { City: '$eq' }, order: ['-createdAt'] };
  assert.deepEqual(lines, [{ facts: { ...facts, ms: 1_235, rows: 7, plan: ['scan'] }, message: 'slow query' }]);
});

test('a plan that cannot be had leaves its line without it', async () => {
  const { lines, log } = logOf();
  log.observed(query({ plan: () => Promise.reject(new Error('away')), isTimedOut: true }));
  await turn();
  assert.equal(lines.length, 1);
  assert.ok(!('plan' in (lines[0] as Logged).facts));
  assert.equal((lines[0] as Logged).facts.isTimedOut, true);
});

test('a plan that does not come in time leaves its line without it', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { lines, log } = logOf();
    log.observed(query({ plan: () => new Promise(() => {}) }));
    await Promise.resolve();
    assert.equal(lines.length, 0);
    mock.timers.tick(2_000);
    for (let n = 0; n < 5; n++) await Promise.resolve();
    assert.equal(lines.length, 1);
  } finally {
    mock.timers.reset();
  }
});

test('many slow queries cause few lines and fewer plans, and the others are counted', async () => {
  const { lines, log, pass } = logOf();
  let plans = 0;
  const plan = async () => {
    plans++;
    return ['scan'];
  };
  for (let n = 0; n < 1_000; n++) {
    log.observed(query({ plan }));
    if (n % 100 === 0) await turn();
  }
  await turn();
  assert.equal(lines.length, 10);
  assert.ok(plans <= 2, `${plans} plans`);
  log.close();
  assert.deepEqual(lines.at(-1), {
    facts: { count: 990 },
    message: 'slow queries were not logged: there were too many',
  });
  pass(1_000);
  log.observed(query());
  assert.equal(lines.length, 12);
});

test('lines that wait for their plan are written at the end', () => {
  const { lines, log } = logOf();
  log.observed(query({ plan: () => new Promise(() => {}) }));
  log.close();
  assert.equal(lines.length, 1);
});
