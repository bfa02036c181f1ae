import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { type FieldCondition, type Filter, inputOf, NO_FILTER, operatorsOf, type Values } from './condition.ts';
import { fromWhere } from './from-where.ts';
import { refreshWords } from './refresh-words.ts';
import { type FilterContext, quoted, toWhere } from './to-where.ts';

const field = (name: string, type: FieldModel['type'], targetClass?: string): FieldModel => ({
  name,
  type,
  isReadOnly: false,
  isIndexed: false,
  ...(targetClass === undefined ? {} : { targetClass }),
});

const context: FilterContext = {
  timeZone: 'Asia/Jerusalem',
  nowMs: Date.parse('2026-11-18T09:00:00.000Z'),
  meId: 'ME00000001',
  fields: [
    field('Name', 'String'),
    field('Comment', 'HTML/XML'),
    field('Sum', 'Number'),
    field('IsAccount', 'Boolean'),
    field('createdAt', 'Date'),
    field('StatusId', 'Pointer', 'Statuses'),
    field('OwnerId', 'Pointer', '_User'),
    field('Members', 'Relation', 'Contacts'),
    field('Words', 'Array'),
    field('array_tags_Pointer_Tags', 'Array', 'Tags'),
    field('Data', 'Object'),
    field('Photo', 'File'),
  ],
};

const day = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('\\E', 'a\\Eb\\Q.*', '5', 'דנה (VIP) 3', '^x$'),
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (Object.is(one, -0) ? 0 : one));

const valuesFor = (input: ReturnType<typeof inputOf>): fc.Arbitrary<Values> => {
  switch (input) {
    case 'none':
      return fc.constant([]);
    case 'text':
      return fc.tuple(text);
    case 'number':
      return fc.tuple(number);
    case 'numbers':
      return fc.tuple(number, number);
    case 'day':
      return fc.tuple(day);
    case 'days':
      return fc.tuple(day, day).filter(([from, to]) => from < to);
    case 'dayCount':
      return fc.tuple(fc.integer({ min: 1, max: 999 }));
    case 'records':
      return fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9]{10}$/), { minLength: 1, maxLength: 4 });
  }
};

const condition: fc.Arbitrary<FieldCondition> = fc
  .constantFrom(...context.fields)
  .chain((one) =>
    fc
      .constantFrom(...operatorsOf(one))
      .chain((operator) =>
        valuesFor(inputOf(operator, one.type)).map((values) => ({ kind: 'field' as const, field: one.name, operator, values })),
      ),
  );

const filter: fc.Arbitrary<Filter> = fc
  .record(
    { match: fc.constantFrom('all' as const, 'any' as const), conditions: fc.array(condition, { maxLength: 5 }) },
    { noNullPrototype: true },
  )
  .map((one) => (one.conditions.length < 2 ? { ...one, match: 'all' as const } : one));

describe('a filter and its where', () => {
  it('say the same, both ways', () => {
    fc.assert(
      fc.property(filter, (one) => {
        const where = toWhere(one, context);
        assert.deepEqual(fromWhere(where, context), one);
        assert.deepEqual(toWhere(fromWhere(where, context), context), where);
        assert.deepEqual(refreshWords(where, context), where);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lose nothing that the builder has no words for', () => {
    const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
    const operators = fc.dictionary(
      fc.constantFrom('$gt', '$regex', '$inQuery', '$relativeTime', '$text', '$near', '$in', '$exists'),
      fc.oneof(leaf, fc.array(leaf, { maxLength: 2 })),
      { minKeys: 2, maxKeys: 3, noNullPrototype: true },
    );
    const wheres = fc.dictionary(fc.constantFrom('Name', 'Sum', 'Unknown', 'a.b', 'createdAt', 'StatusId'), operators, {
      minKeys: 1,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(wheres, (where) => {
        const read = fromWhere(where as JsonObject, context);
        assert.deepEqual(toWhere(read, context), { ...where });
      }),
    );
  });

  it('keep the words of the examples', () => {
    const cases: [JsonObject, Filter['conditions']][] = [
      [{ Name: 'x' }, [{ kind: 'field', field: 'Name', operator: 'is', values: ['x'] }]],
      [{ Name: { $eq: 'x' } }, [{ kind: 'field', field: 'Name', operator: 'is', values: ['x'] }]],
      [{ Name: { $regex: 'x.*', $options: 'i' } }, [{ kind: 'raw', where: { Name: { $regex: 'x.*', $options: 'i' } } }]],
      [{ Sum: { $gte: 1, $lte: 3 } }, [{ kind: 'field', field: 'Sum', operator: 'between', values: [1, 3] }]],
      [{ Photo: { $exists: true } }, [{ kind: 'field', field: 'Photo', operator: 'notEmpty', values: [] }]],
      [
        { createdAt: { $gte: { __type: 'Date', iso: '2026-11-01T12:00:00.000Z' } } },
        [{ kind: 'raw', where: { createdAt: { $gte: { __type: 'Date', iso: '2026-11-01T12:00:00.000Z' } } } }],
      ],
      [
        { StatusId: { __type: 'Pointer', className: 'Statuses', objectId: 'abc' } },
        [{ kind: 'field', field: 'StatusId', operator: 'anyOf', values: ['abc'] }],
      ],
      [
        { $or: [{ Name: 'a' }, { Sum: 1 }], IsAccount: true },
        [
          { kind: 'raw', where: { $or: [{ Name: 'a' }, { Sum: 1 }] } },
          { kind: 'field', field: 'IsAccount', operator: 'yes', values: [] },
        ],
      ],
    ];
    for (const [where, conditions] of cases) assert.deepEqual(fromWhere(where, context), { match: 'all', conditions });
    assert.deepEqual(fromWhere({}, context), NO_FILTER);
  });

  it('leave out what is not complete or not there', () => {
    const half: Filter = {
      match: 'any',
      conditions: [
        { kind: 'field', field: 'Name', operator: 'contains', values: [''] },
        { kind: 'field', field: 'Gone', operator: 'is', values: ['x'] },
        { kind: 'field', field: 'Sum', operator: 'is', values: [1] },
      ],
    };
    assert.deepEqual(toWhere(half, context), { Sum: 1 });
  });
});

describe('words', () => {
  it('mean other days at another time, and another user to another', () => {
    const original: Filter = {
      match: 'all',
      conditions: [
        { kind: 'field', field: 'createdAt', operator: 'thisMonth', values: [] },
        { kind: 'field', field: 'OwnerId', operator: 'me', values: [] },
      ],
    };
    const where = toWhere(original, context);
    const later = { ...context, nowMs: Date.parse('2026-11-30T22:30:00.000Z'), meId: 'OTHER00001' };
    assert.deepEqual(refreshWords(where, later), toWhere(original, later));
    assert.deepEqual(toWhere(original, later), {
      createdAt: {
        $gte: { __type: 'Date', iso: '2026-11-30T22:00:00.000Z', word: 'thisMonth' },
        $lt: { __type: 'Date', iso: '2026-12-31T22:00:00.000Z', word: 'thisMonth' },
      },
      OwnerId: { __type: 'Pointer', className: '_User', objectId: 'OTHER00001', word: 'me' },
    });
  });
});

describe('a quoted text', () => {
  it('is found letter for letter', () => {
    assert.equal(quoted('a.b'), '\\Qa.b\\E');
    assert.equal(quoted('a\\Eb'), '\\Qa\\E\\\\E\\Qb\\E');
  });
});
