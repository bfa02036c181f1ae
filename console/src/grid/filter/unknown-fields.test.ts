import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unknownFields, withoutFields } from './unknown-fields.ts';

const known = new Set(['Name', 'City', 'AccountId']);

it('names that are no fields are found wherever conditions are joined, and taken away alone', () => {
  const cases: [object, string[], object][] = [
    [{ Name: 'a' }, [], { Name: 'a' }],
    [{ Foo: 1 }, ['Foo'], {}],
    [{ Name: 'a', Foo: { $exists: true } }, ['Foo'], { Name: 'a' }],
    [{ 'AccountId.City': 'Haifa' }, [], { 'AccountId.City': 'Haifa' }],
    [{ 'Foo.City': 'Haifa' }, ['Foo.City'], {}],
    [{ $or: [{ Name: 'a' }, { Foo: 1, City: 'b' }, { Foo: 2 }] }, ['Foo'], { $or: [{ Name: 'a' }, { City: 'b' }] }],
    [{ $and: [{ Foo: 1 }, { $nor: [{ Bar: 1 }] }] }, ['Foo', 'Bar'], {}],
    [{ constructor: 1, $other: 2 }, ['constructor'], { $other: 2 }],
    [{ $or: 'no list' }, [], { $or: 'no list' }],
  ];
  for (const [where, names, left] of cases) {
    const found = unknownFields(where as never, known);
    assert.deepEqual(found, names, JSON.stringify(where));
    assert.deepEqual(withoutFields(where as never, found), left, JSON.stringify(where));
  }
});
