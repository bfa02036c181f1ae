import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ProgressOptions, ProgressReporter } from './progress.ts';

function watched(options: ProgressOptions, isTTY: boolean) {
  const lines: string[] = [];
  const clock = { now: 0 };
  const reporter = new ProgressReporter(options, { isTTY, write: (text) => lines.push(text) }, () => clock.now);
  const at = (milliseconds: number, done: number, share?: number) => {
    clock.now = milliseconds;
    reporter.progress({ what: 'Accounts', done, unit: 'rows', share });
  };
  return { reporter, lines, at };
}

test('on a terminal a line renews itself, with rate and time left', () => {
  const { reporter, lines, at } = watched({}, true);
  at(100, 10);
  at(1_000, 10_000, 0.1);
  at(1_100, 11_000, 0.11);
  at(4_000_000, 40_000_000, 0.5);
  assert.deepEqual(lines, [
    '\r\x1b[KAccounts: 10,000 rows, 10,000 a second, 0:09 left',
    '\r\x1b[KAccounts: 40,000,000 rows, 10,000 a second, 1:06:40 left',
  ]);
  reporter.note('line 7: wrong', { line: 7 });
  assert.deepEqual(lines.slice(2), ['\r\x1b[K', 'line 7: wrong\n']);
});
test('elsewhere there is a line every ten seconds', () => {
  const { reporter, lines, at } = watched({}, false);
  for (let second = 1; second <= 25; second++) at(second * 1_000, second);
  assert.deepEqual(lines, ['Accounts: 10 rows, 1 a second\n', 'Accounts: 20 rows, 1 a second\n']);
  reporter.clear();
  assert.equal(lines.length, 2);
});
test('rate and time left of what follows count from its beginning', () => {
  const { reporter, lines, at } = watched({}, true);
  at(5_000, 1_000, 1);
  reporter.begin();
  at(10_000, 50_000, 0.5);
  assert.deepEqual(lines.slice(1), ['\r\x1b[KAccounts: 50,000 rows, 10,000 a second, 0:05 left']);
});
test('JSON is one object a line, on a terminal too', () => {
  const { reporter, lines, at } = watched({ json: true }, true);
  at(5_000, 1);
  at(10_000, 100, 0.25);
  reporter.note('line 7: wrong', { line: 7 });
  const expected = [{ progress: 'Accounts', done: 100, unit: 'rows', perSecond: 10, secondsLeft: 30 }, { line: 7 }];
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    expected,
  );
  assert.ok(lines.every((line) => line.endsWith('\n')));
});
test('quiet is without progress, and tells what stays', () => {
  const { reporter, lines, at } = watched({ quiet: true }, true);
  at(50_000, 1);
  reporter.note('line 7: wrong', { line: 7 });
  assert.deepEqual(lines, ['line 7: wrong\n']);
});
