import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateOf, fileOf, pointerName, pointerOf, safeUrl, sameValue } from '../src/model/values.ts';

const at = (iso: string) => ({ __type: 'Date', iso });
const pointer = (objectId: string) => ({ __type: 'Pointer', className: 'Tags', objectId });

test('values that a user sees as the same are the same', () => {
  const same: [unknown, unknown][] = [
    [undefined, null],
    ['', null],
    [[], undefined],
    [at('2026-10-04T21:00:00.000Z'), at('2026-10-04T21:00:00Z')],
    [pointer('a'), { ...pointer('a'), Name: 'expanded' }],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [
      { __type: 'File', name: 'x', url: 'one' },
      { __type: 'File', name: 'x', url: 'two', public: true },
    ],
  ];
  for (const [a, b] of same) assert.ok(sameValue(a as never, b as never), JSON.stringify([a, b]));
  const different: [unknown, unknown][] = [
    [0, null],
    [false, null],
    [1, '1'],
    [pointer('a'), pointer('b')],
    [
      [1, 2],
      [2, 1],
    ],
    [at('2026-10-04T21:00:00.000Z'), at('2026-10-04T21:00:00.001Z')],
  ];
  for (const [a, b] of different) assert.ok(!sameValue(a as never, b as never), JSON.stringify([a, b]));
});

test('wire values are read, and what only looks like them is not', () => {
  assert.equal(dateOf(at('never')), null);
  assert.equal(dateOf('2026-01-01T00:00:00.000Z')?.getTime(), Date.UTC(2026, 0, 1));
  assert.equal(pointerOf({ __type: 'Pointer', className: 'Tags' }), null);
  assert.deepEqual(fileOf({ __type: 'File', name: 'a', url: 'b', private: true }), { name: 'a', url: 'b', isPrivate: true });
  assert.equal(fileOf({ __type: 'Date' }), null);
});

test('names of Pointers are own members of the answer', () => {
  assert.equal(pointerName({ className: 'Tags', objectId: 'a' }, { Tags: { a: ' VIP ' } }), 'VIP');
  assert.equal(pointerName({ className: '__proto__', objectId: 'toString' }, {}), null);
  assert.equal(pointerName({ className: 'Tags', objectId: 'constructor' }, { Tags: {} }), null);
});

test('only addresses of the web are linked', () => {
  for (const url of ['https://example.com/a', 'http://localhost/x', '/platform/files/a', 'a.png'])
    assert.equal(safeUrl(url), url);
  for (const url of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'file:///etc', 'http://[']) {
    assert.equal(safeUrl(url), null, url);
  }
});
