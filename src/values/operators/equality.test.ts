import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../kernel/json.ts';
import { without, withUnique } from './equality.ts';

/** Elements that report when their content is read. */
function watched(count: number): { elements: JsonValue[]; lookedInto: () => number } {
  let looked = 0;
  const elements = Array.from(
    { length: count },
    (_, n): JsonValue =>
      new Proxy({ n } as { n: number }, {
        ownKeys(target) {
          looked++;
          return Reflect.ownKeys(target);
        },
      }),
  );
  return { elements, lookedInto: () => looked };
}

test('elements are looked into only for operands that may equal them', () => {
  const { elements, lookedInto } = watched(1_000);
  assert.equal(withUnique(elements, ['x', 1, null]).length, 1_003);
  assert.equal(without(elements, ['x', 1, null]).length, 1_000);
  assert.equal(lookedInto(), 0);
  // All operands are found by then.
  assert.equal(withUnique(elements, [{ n: 0 }, { n: 9 }]).length, 1_000);
  assert.equal(lookedInto(), 10);
});

test('plain elements are equal by type and value', () => {
  assert.deepEqual(withUnique([0, '1', true], [-0, 1, '1', 'true', null, null]), [0, '1', true, 1, 'true', null]);
  assert.deepEqual(without([1, '1', null, 'null', false, [1]], ['1', null, [1]]), [1, 'null', false]);
});
