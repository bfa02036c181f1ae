import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Conditions } from './conditions.ts';
import type { Logger } from './log.ts';

type Line = [level: string, message: string, count: unknown];

let lines: Line[];
let told: Record<string, unknown>[];
let now: number;
let conditions: Conditions;

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval'] });
  lines = [];
  told = [];
  now = 0;
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push([level, message, fields.count]);
    told.push(fields);
  };
  conditions = new Conditions({ error: write('error'), warn: write('warn') } as unknown as Logger, () => now);
});

afterEach(() => {
  conditions.close();
  mock.timers.reset();
});

function pass(seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    now += 1_000;
    mock.timers.tick(1_000);
  }
}

const full = 'the disk is full';
const ofOne = { app: 'one' };

test('a condition is reported when it begins, with its first error, and when it ends, with its count', () => {
  const first = new Error('the first');
  conditions.met(full, ofOne, first);
  for (let n = 0; n < 9; n++) conditions.met(full, ofOne, new Error('a later one'));
  pass(10);
  conditions.over(ofOne);
  pass(20);
  assert.deepEqual(lines, [
    ['error', `${full}: began`, undefined],
    ['warn', `${full}: ended`, 10],
  ]);
  assert.deepEqual(told, [
    { condition: full, app: 'one', err: first },
    { condition: full, app: 'one', count: 10, ms: 10_000 },
  ]);
});

test('while it lasts there is one line a minute', () => {
  for (let second = 0; second < 150; second++) {
    conditions.met(full, ofOne);
    pass(1);
  }
  assert.deepEqual(lines, [
    ['error', `${full}: began`, undefined],
    ['error', `${full}: goes on`, 60],
    ['error', `${full}: goes on`, 120],
  ]);
});

test('what comes back within five seconds is the same condition, later it is another', () => {
  conditions.met(full, ofOne);
  for (let turn = 0; turn < 5; turn++) {
    conditions.over(ofOne);
    pass(4);
    conditions.met(full, ofOne);
  }
  assert.equal(lines.length, 1);
  pass(20);
  conditions.over(ofOne);
  pass(4);
  conditions.met(full, ofOne);
  assert.equal(lines.length, 1);
  conditions.over(ofOne);
  pass(5);
  conditions.met(full, ofOne);
  assert.deepEqual(lines, [
    ['error', `${full}: began`, undefined],
    ['warn', `${full}: ended`, 7],
    ['error', `${full}: began`, undefined],
  ]);
});

test('one that nobody asks about ends a minute after it was last met', () => {
  conditions.met(full);
  pass(59);
  assert.equal(lines.length, 1);
  pass(1);
  assert.deepEqual(lines.at(-1), ['warn', `${full}: ended`, 1]);
  assert.equal(told.at(-1)?.ms, 0);
  pass(600);
  assert.equal(lines.length, 2);
});

test('systems and kinds are apart', () => {
  conditions.met(full, ofOne);
  conditions.met(full, { app: 'two' });
  conditions.met('an I/O error', ofOne);
  assert.equal(lines.length, 3);
  conditions.over(ofOne, full);
  pass(5);
  assert.deepEqual(told.at(-1), { condition: full, app: 'one', count: 1, ms: 0 });
  conditions.over(ofOne);
  pass(5);
  assert.deepEqual(told.at(-1), { condition: 'an I/O error', app: 'one', count: 1, ms: 5_000 });
  assert.equal(lines.length, 5);
});

test('however many there are, a bounded number has lines of its own', () => {
  for (let round = 0; round < 3; round++) for (let n = 0; n < 5_000; n++) conditions.met(full, { app: `app${n}` });
  assert.equal(lines.length, 201);
  pass(60);
  const ended = lines.filter(([, message]) => message.endsWith('ended'));
  assert.equal(ended.length, 201);
  assert.equal(
    ended.reduce((sum, [, , count]) => sum + Number(count), 0),
    15_000,
  );
});
