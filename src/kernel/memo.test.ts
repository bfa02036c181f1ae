import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoByObject } from './memo.ts';

test('what was made of an object is made once, whatever it is', () => {
  for (const value of [{}, null, undefined, 0]) {
    let made = 0;
    const of = memoByObject(() => {
      made++;
      return value;
    });
    const [one, other] = [{}, {}];
    assert.deepEqual([of(one), of(one), of(other)], [value, value, value]);
    assert.equal(made, 2);
  }
});
