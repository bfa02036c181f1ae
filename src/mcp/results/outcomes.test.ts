import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonBytes } from '../../kernel/json.ts';
import { fittingOutcomes, type Outcome, outcomesAnswer } from './outcomes.ts';

const good = (n: number): Outcome => ({ success: { objectId: `id${n}`, createdAt: '2026-01-01T00:00:00.000Z' } });
const bad = (code: number): Outcome => ({
  error: { code, error: `wrong ${code}`, expected: 'Send another', next: 'Get-Schema' },
});

test('outcomes are reported as fully as there is room, in order', () => {
  const outcomes = [good(1), bad(111), good(2), bad(105)];
  assert.deepEqual(outcomesAnswer(outcomes), { succeeded: 2, failed: 2, results: outcomes });
  const whole = jsonBytes(outcomes);
  const brief = fittingOutcomes(outcomes, whole - 1);
  assert.deepEqual(brief, [
    good(1),
    { error: { code: 111, error: 'wrong 111' } },
    good(2),
    { error: { code: 105, error: 'wrong 105' } },
  ]);
  const least = fittingOutcomes(outcomes, 10);
  assert.deepEqual([least[0], least[2]], [{ success: { objectId: 'id1' } }, { success: { objectId: 'id2' } }]);
});
