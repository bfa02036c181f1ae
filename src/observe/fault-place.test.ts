import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultPlace } from './fault-place.ts';

test('a fault is known by its class, its code and the place in the sources', () => {
  const thrown = () => Object.assign(new TypeError('about 17'), { code: 'ERR_OF_OURS' });
  const place = faultPlace(thrown());
  assert.equal(place.fault, 'TypeError');
  assert.equal(place.code, 'ERR_OF_OURS');
  assert.match(place.at ?? '', /^observe\/fault-place\.test\.ts:\d+$/);
  assert.deepEqual(faultPlace(thrown()), place);
});

test('what a package throws is known by who called it', () => {
  try {
    JSON.parse('{');
    assert.fail();
  } catch (error) {
    assert.match(faultPlace(error).at ?? '', /^observe\/fault-place\.test\.ts:\d+$/);
  }
});

test('what is no error has no place', () => {
  assert.deepEqual(faultPlace('text'), { fault: 'string' });
  assert.deepEqual(faultPlace(Object.assign(new Error('x'), { stack: undefined })), { fault: 'Error', at: undefined });
});
