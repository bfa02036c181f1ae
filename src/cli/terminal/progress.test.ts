import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Teller, type TellOptions } from './progress.ts';

function watched(options: TellOptions, isTTY: boolean) {
  const told: string[] = [];
  const clock = { now: 0 };
  const teller = new Teller(options, { isTTY, write: (text) => told.push(text) }, () => clock.now);
  const at = (milliseconds: number, done: number, share?: number) => {
    clock.now = milliseconds;
    teller.progress({ what: 'Accounts', done, unit: 'rows', share });
  };
  return { teller, told, at };
}

test('on a terminal a line renews itself, with rate and time left', () => {
  const { teller, told, at } = watched({}, true);
  at(100, 10);
  at(1_000, 10_000, 0.1);
  at(1_100, 11_000, 0.11);
  at(4_000_000, 40_000_000, 0.5);
  assert.deepEqual(told, [
    '\r\x1b[KAccounts: 10,000 rows, 10,000 a second, 0:09 left',
    '\r\x1b[KAccounts: 40,000,000 rows, 10,000 a second, 1:06:40 left',
  ]);
  teller.note('line 7: wrong', { line: 7 });
  assert.deepEqual(told.slice(2), ['\r\x1b[K', 'line 7: wrong\n']);
});
test('elsewhere there is a line every ten seconds', () => {
  const { teller, told, at } = watched({}, false);
  for (let second = 1; second <= 25; second++) at(second * 1_000, second);
  assert.deepEqual(told, ['Accounts: 10 rows, 1 a second\n', 'Accounts: 20 rows, 1 a second\n']);
  teller.clear();
  assert.equal(told.length, 2);
});
test('rate and time left of what follows count from its beginning', () => {
  const { teller, told, at } = watched({}, true);
  at(5_000, 1_000, 1);
  teller.begin();
  at(10_000, 50_000, 0.5);
  assert.deepEqual(told.slice(1), ['\r\x1b[KAccounts: 50,000 rows, 10,000 a second, 0:05 left']);
});
test('JSON is one object a line, on a terminal too', () => {
  const { teller, told, at } = watched({ json: true }, true);
  at(5_000, 1);
  at(10_000, 100, 0.25);
  teller.note('line 7: wrong', { line: 7 });
  const expected = [{ progress: 'Accounts', done: 100, unit: 'rows', perSecond: 10, secondsLeft: 30 }, { line: 7 }];
  assert.deepEqual(
    told.map((line) => JSON.parse(line)),
    expected,
  );
  assert.ok(told.every((line) => line.endsWith('\n')));
});
test('quiet is without progress, and tells what stays', () => {
  const { teller, told, at } = watched({ quiet: true }, true);
  at(50_000, 1);
  teller.note('line 7: wrong', { line: 7 });
  assert.deepEqual(told, ['line 7: wrong\n']);
});
