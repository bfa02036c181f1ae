/**
 * Random tables, records and queries. Values come from small pools, so that constraints often match, and the pools are full of near-collisions: '1'
 * and 1 and true, letters that differ by case, code points that UTF-16 sorts differently.
 */
import fc from 'fast-check';
import type { Json, Query, Where } from '../support/oracle.ts';

export const fieldTypes = ['String', 'Number', 'Boolean', 'Date', 'Pointer', 'Array', 'Object'] as const;
export type FieldType = (typeof fieldTypes)[number];
export interface Field {
  name: string;
  type: FieldType;
}
export interface Scenario {
  fields: Field[];
  records: { objectId: string; [field: string]: Json }[];
  targets: { objectId: string; rank: number }[];
  queries: (Query & { byPost: boolean })[];
}

/** Stands for the target table of the run; the test replaces it by the real name. */
export const TARGET = 'TargetTable';

// '1' and 'true' look like other types; the last three sort differently by UTF-16 units and by UTF-8 bytes.
const texts = ['', 'a', 'A', 'aa', 'ab', 'b', 'a.b', 'a%', 'a_b', "o'k", '"', '\\', '1', 'true', 'null', '[1]', ' '];
const string = fc.constantFrom(...texts, 'p1', '2024-02-29T12:00:00.000Z', 'שלום', 'é', 'e\u0301', '\uffee', '😀', '\u{10ffff}');
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(-2, -1, 0, 1, 1.5, 2, 9, 10, 0.1, 0.30000000000000004) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324, -1e-7) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
);
const boolean = fc.boolean();
const date = fc
  .constantFrom('0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z')
  .chain((old) => fc.constantFrom(old, '2024-02-29T12:00:00.000Z', '2024-02-29T12:00:00.001Z', '9999-12-31T23:59:59.999Z'))
  .map((iso): Json => ({ __type: 'Date', iso }));
const targetId = fc.constantFrom('p1', 'p2', 'P1', 'p10', '1');
const pointer = targetId.map((objectId): Json => ({ __type: 'Pointer', className: TARGET, objectId }));
const otherPointer = targetId.map((objectId): Json => ({ __type: 'Pointer', className: '_User', objectId }));
const array = fc.array(fc.oneof(string, number, boolean, date, pointer), { maxLength: 4 });

// Each key of an Object holds one type, so that an order by it is defined; `any` holds all and is never sorted by.
const object = fc.record(
  {
    any: fc.oneof(string, number, boolean, fc.constant(null)),
    flag: boolean,
    n: number,
    s: string,
    sub: fc.record({ n: number }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

const values: Record<FieldType, fc.Arbitrary<Json>> = {
  String: string,
  Number: number,
  Boolean: boolean,
  Date: date,
  Pointer: pointer,
  Array: array,
  Object: object as fc.Arbitrary<Json>,
};

/** Values that cannot be of the type; a Number against a String is left out, since String accepts Numbers. */
const mismatches: Record<FieldType, fc.Arbitrary<Json>> = {
  String: fc.oneof(boolean, date, pointer),
  Number: fc.oneof(string, boolean, date, pointer),
  Boolean: fc.oneof(fc.constantFrom<Json>(0, 1, 'true', 'false'), date, pointer),
  Date: fc.oneof(string, number, boolean, pointer),
  Pointer: fc.oneof(string, number, boolean, date, otherPointer),
  Array: otherPointer,
  Object: fc.oneof(string, number, boolean),
};

const paths: [path: string, type: FieldType][] = [
  ['any', 'String'],
  ['any', 'Number'],
  ['flag', 'Boolean'],
  ['n', 'Number'],
  ['s', 'String'],
  ['sub.n', 'Number'],
  ['nope', 'Number'],
  ['sub.nope', 'String'],
];

const pieces = ['a', 'b', 'A', '.', 'a*', '[ab]', '\\.', '(a|1)', '\\Qa.b\\E', 'שלום', 'o.k', '%'];
const regex = fc
  .tuple(fc.boolean(), fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }), fc.boolean(), fc.boolean())
  .map(
    ([start, middle, end, insensitive]): Where => ({
      $regex: `${start ? '^' : ''}${middle.join('')}${end ? '$' : ''}`,
      ...(insensitive ? { $options: 'i' } : {}),
    }),
  );

const one = (operator: string, value: fc.Arbitrary<Json>) => value.map((argument): Where => ({ [operator]: argument }));
const list = (element: fc.Arbitrary<Json>, minLength = 0) => fc.array(element, { minLength, maxLength: 3 });
const range = fc.constantFrom('$lt', '$lte', '$gt', '$gte');

function constraint(type: FieldType): fc.Arbitrary<Json> {
  const scalar = type === 'Array' ? fc.oneof(string, number, boolean, date, pointer) : values[type];
  const value = fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: mismatches[type] });
  const comparable = type === 'Array' ? fc.oneof(string, number, date) : value;
  const forms: fc.Arbitrary<Json>[] = [
    value,
    fc.constant(null),
    one('$eq', fc.oneof(value, fc.constant(null))),
    one('$ne', fc.oneof(value, fc.constant(null))),
    fc.tuple(fc.constantFrom('$in', '$nin', 'containedIn', 'notContainedIn'), list(value)).map(([name, of]) => ({ [name]: of })),
    one('$exists', boolean),
  ];
  if (type === 'String' || type === 'Number' || type === 'Date' || type === 'Array') {
    // An ordered comparison with a Boolean or a Pointer has no documented meaning.
    const limits = comparable.filter((of) => typeof of !== 'boolean' && !isPointer(of));
    forms.push(fc.tuple(range, limits).map(([name, of]) => ({ [name]: of })));
    forms.push(fc.tuple(range, limits, range, limits).map(([first, a, second, b]) => ({ [first]: a, [second]: b })));
  }
  if (type === 'String' || type === 'Array') forms.push(regex);
  if (type === 'Array') {
    forms.push(one('$all', list(scalar, 1)));
    forms.push(one('$containedBy', fc.array(scalar, { maxLength: 6 })));
  }
  if (type === 'Pointer') {
    const where = fc.tuple(range, fc.integer({ min: 0, max: 4 })).map(([name, rank]): Where => ({ rank: { [name]: rank } }));
    const query = where.map((of): Json => ({ className: TARGET, where: of }));
    forms.push(one('$inQuery', query), one('$notInQuery', query));
  }
  const plain = fc.oneof(...forms);
  const negated = plain.filter(isOperators).map((of): Json => ({ $not: of }));
  return fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: negated });
}

function isPointer(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && value.__type === 'Pointer';
}

function isOperators(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && '__type' in value === false && !isPlain(value);
}

function isPlain(value: { [key: string]: Json }): boolean {
  return Object.keys(value).every((key) => !key.startsWith('$'));
}

function where(fields: Field[], ids: string[]): fc.Arbitrary<Where> {
  const objectId = fc.constantFrom('a', 'Z', '0', ...ids);
  const leaves: fc.Arbitrary<Where>[] = fields.flatMap(({ name, type }) => [
    one(name, constraint(type)),
    one(name, constraint(type)),
    ...(type === 'Object' ? [fc.constantFrom(...paths).chain(([path, of]) => one(`${name}.${path}`, constraint(of)))] : []),
  ]);
  leaves.push(
    one(
      'objectId',
      fc.oneof(
        objectId,
        one('$in', list(objectId)),
        range.chain((name) => one(name, objectId)),
      ),
    ),
  );
  leaves.push(one('unknownField', constraint('Number')));
  const { tree } = fc.letrec<{ tree: Where }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.oneof(...leaves),
      fc.array(fc.oneof(...leaves), { minLength: 0, maxLength: 3 }).map((parts): Where => Object.assign({}, ...parts)),
      fc
        .tuple(fc.constantFrom('$or', '$and', '$nor'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
        .map(([name, branches]): Where => ({ [name]: branches })),
    ),
  }));
  return tree;
}

const sortable = (fields: Field[]) => [
  'objectId',
  'createdAt',
  'unknownField',
  ...fields.flatMap(({ name, type }) => {
    if (type === 'Object') return [`${name}.n`, `${name}.s`, `${name}.flag`, `${name}.sub.n`];
    return type === 'Array' ? [] : [name];
  }),
];

function query(fields: Field[], ids: string[]): fc.Arbitrary<Query & { byPost: boolean }> {
  const orderKey = fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...sortable(fields))).map((parts) => parts.join(''));
  const names = fc.uniqueArray(fc.constantFrom('unknownField', ...fields.map(({ name }) => name)), {
    minLength: 1,
    maxLength: 3,
  });
  const options = fc.record(
    {
      where: where(fields, ids),
      order: fc.array(orderKey, { minLength: 1, maxLength: 3 }),
      skip: fc.nat(8),
      limit: fc.oneof(fc.nat(8), fc.constant(1000)),
      count: boolean,
      projection: fc.tuple(fc.constantFrom('keys' as const, 'excludeKeys' as const), names),
      byPost: boolean,
    },
    { requiredKeys: ['byPost', 'where'] },
  );
  return options.map(({ projection, ...rest }) => ({ ...rest, ...(projection ? { [projection[0]]: projection[1] } : {}) }));
}

/** Draws a table of random fields, its records, the target table of its Pointers, and up to `queries` queries over it. */
export function scenario(queries: number): fc.Arbitrary<Scenario> {
  const names = ['name', 'Name', 'order', 'Total', 'x1', 'group', 'is_on', 'Z'];
  const fieldList = fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 6 })
    .chain((chosen) => fc.tuple(...chosen.map((name) => fc.constantFrom(...fieldTypes).map((type): Field => ({ name, type })))));
  const id = fc.string({ unit: fc.constantFrom(...'aAbBzZ09'), minLength: 1, maxLength: 5 });
  return fieldList.chain((fields) =>
    fc.uniqueArray(id, { maxLength: 40 }).chain((ids) => {
      const record = fc.record(Object.fromEntries(fields.map(({ name, type }) => [name, optional(values[type])])));
      return fc.record({
        fields: fc.constant(fields as Field[]),
        records: fc
          .tuple(...ids.map((objectId) => record.map((row) => ({ ...withoutMissing(row), objectId }))))
          .map((rows) => rows as Scenario['records']),
        targets: fc.uniqueArray(targetId, { maxLength: 4 }).map((list) => list.map((objectId, rank) => ({ objectId, rank }))),
        queries: fc.array(query(fields, ids), { minLength: 1, maxLength: queries, size: 'max' }),
      });
    }),
  );
}

/** Draws absent values and now and then an explicit null, which is the same. */
function optional(value: fc.Arbitrary<Json>): fc.Arbitrary<Json | undefined> {
  return fc.oneof(
    { weight: 7, arbitrary: value as fc.Arbitrary<Json | undefined> },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function withoutMissing(row: Record<string, Json | undefined>): Record<string, Json> {
  return Object.fromEntries(Object.entries(row).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
