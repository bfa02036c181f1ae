/** A body can hold thousands of times more faults than an answer reports. Reference: tools.md#validate-records. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { byUser, type Person } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

onEachEngine('many faults', (tools) => {
  const { table } = tools;
  const fieldAt = (at: number) => `CustomerRelationFieldNumber${String(at).padStart(6, '0')}`;
  let reader: Person;
  let wide = '';

  before(async () => {
    reader = await byUser(tools, [], ['mcp:view']);
    wide = await table(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [fieldAt(at), 'String'])));
    await permit(tools, wide, { find: { requiresAuthentication: true }, create: { requiresAuthentication: true } });
  });

  const check = (data: readonly object[]): Promise<Json> => reader.use('Validate-Records', { table: wide, data });
  /** Returns a name as long as those of the fields, but of no field. */
  const wrongAt = (at: number) => fieldAt(at).replace('Number', 'Numbor');
  const wrong = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [wrongAt(from + at), 1]));

  test('they are counted, and those that fit are reported with the field that is meant', { timeout: 60_000 }, async () => {
    const data = [{}, ...Array.from({ length: 999 }, (_, at) => wrong(20 * at, 20))];
    const answer = await check(data);
    assert.deepEqual([answer.checked, answer.valid, answer.truncated], [1_000, 1, true]);
    assert.ok(bytesOf(answer) <= MAX_BYTES && bytesOf(answer) > MAX_BYTES / 2);
    const [first] = answer.results;
    assert.deepEqual([first.index, first.faults.length], [1, 20]);
    assert.match(first.faults[0].expected, new RegExp(`is ${fieldAt(0)} meant`));
  });

  test('a record with more of them than an answer holds', { timeout: 60_000 }, async () => {
    const answer = await check([wrong(0, 10_000), { [fieldAt(0)]: 'x' }]);
    assert.deepEqual(answer, { checked: 2, valid: 1, results: [], truncated: true });
  });

  test('one name, asked for again and again, is reported once', { timeout: 20_000 }, async () => {
    const branches = Array.from({ length: 1_000 }, () => ({ [wrongAt(7)]: 1 }));
    const { hint } = await reader.use('Get-Data', { table: wide, where: { $or: branches } });
    assert.equal(hint, `${wide} has no field ${wrongAt(7)}; is ${fieldAt(7)} meant?`);
  });
});
