import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changedFields,
  clashesOf,
  type Draft,
  edited,
  emptyDraft,
  isDirty,
  isInvalid,
  resolved,
  settled,
  writeOf,
} from '../src/memory/draft.ts';
import { draftText } from '../src/memory/draft-text.ts';

const empty = emptyDraft('request', 'Dana');
const typed = (fields: Record<string, [seen: string | number | null, value: string | number | null]>): Draft =>
  Object.entries(fields).reduce((draft, [name, [seen, value]]) => edited(draft, name, seen, value, 1), empty);

test('only changed fields are sent, each with what the user saw when they began', () => {
  let draft = edited(empty, 'City', 'Haifa', 'A', 1);
  draft = edited(draft, 'City', 'A', 'Acre', 2);
  assert.deepEqual(writeOf(draft), { changes: { City: 'Acre' }, base: { City: 'Haifa' } });
  assert.ok(!isDirty(edited(draft, 'City', 'Acre', 'Haifa', 3)));
});

test('an emptied field that was empty is no change', () => {
  assert.ok(!isDirty(edited(edited(empty, 'City', null, 'a', 1), 'City', 'a', null, 2)));
});

test('what does not read as a value is kept and not sent', () => {
  const draft = edited(typed({ City: [null, 'Acre'] }), 'Total', 5, 5, 2, '5x');
  assert.ok(isInvalid(draft));
  assert.deepEqual(writeOf(draft).changes, { City: 'Acre' });
  assert.equal(
    draftText(draft, (name) => `<${name}>`),
    '<City>: Acre\n<Total>: 5x',
  );
  assert.ok(!isDirty(edited(edited(empty, 'Total', 5, 5, 1, '5x'), 'Total', 5, 5, 2)));
});

test('what was typed while a record was saved goes on from what was saved', () => {
  const sent = typed({ City: ['Haifa', 'Acre'], Name: ['a', 'b'] });
  const now = edited(sent, 'City', 'Acre', 'Acre North', 2);
  const rest = settled({ ...now, isWaiting: true }, writeOf(sent).changes, { City: 'ACRE', Name: 'b' });
  assert.deepEqual(rest.fields, { City: { base: 'ACRE', value: 'Acre North' } });
  assert.equal(rest.isWaiting, false);
});

test('two who typed the same do not clash', () => {
  const draft = typed({ City: ['Haifa', 'Acre'], Name: ['a', 'b'] });
  const conflict = { fields: ['City', 'Name'], record: { City: 'Acre', Name: 'c' } };
  assert.deepEqual(clashesOf(draft, conflict), [{ field: 'Name', before: 'a', mine: 'b', theirs: 'c' }]);
});

test('a choice of mine is sent upon theirs, a choice of theirs is dropped, all else stays', () => {
  const draft = typed({ City: ['Haifa', 'Acre'], Name: ['a', 'b'], Total: [1, 2] });
  const conflict = { fields: ['City', 'Name'], record: { City: 'Eilat' } };
  const next = resolved(
    draft,
    conflict,
    new Map([
      ['City', 'mine'],
      ['Name', 'theirs'],
    ]),
  );
  assert.deepEqual(writeOf(next), { changes: { City: 'Acre', Total: 2 }, base: { City: 'Eilat', Total: 1 } });
});

test("what others changed is reported, one's own writes are not", () => {
  const before = { Name: 'a', City: 'b', updatedAt: '1' };
  assert.deepEqual(changedFields(before, { Name: 'x', City: 'y', updatedAt: '2' }, { changes: { City: 'y' }, updatedAt: null }), [
    'Name',
  ]);
  const answer = { changes: { City: '050' }, updatedAt: '2' };
  assert.deepEqual(changedFields(before, { Name: 'a', City: '+97250', updatedAt: '2' }, answer), []);
  assert.deepEqual(changedFields(before, { Name: 'a', updatedAt: '3' }, answer), ['City']);
});

test('names of fields are no members that every object has', () => {
  assert.deepEqual(writeOf(edited(empty, 'constructor', null, 'x', 1)).changes, { constructor: 'x' });
  assert.deepEqual(clashesOf(empty, { fields: ['toString'], record: {} }), []);
});
