/** Values at the edges of every wire type, from pools small enough for records, operands and keys to meet. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';

/** The table that everything is asked of, and the one that its Pointers lead to. */
export const MAIN = 'MainTable';
export const OTHER = 'OtherTable';

const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const plainTexts = [
  '',
  'a',
  'A',
  'b',
  'ab',
  'aB',
  'a b',
  ' a',
  '1',
  '1.0',
  '-1',
  'true',
  'null',
  '[1]',
  '{}',
  '"',
  '\\',
  "o'k",
  '%',
  'a%',
  'a_b',
  '$a',
  'a.b',
];
// UTF-8 sorts the last ones otherwise than UTF-16; case, marks and width fold in unlike ways.
const letters = [
  'é',
  'e\u0301',
  'É',
  'ß',
  'İ',
  'i',
  'ı',
  'ς',
  'Σ',
  'ﬁ',
  'שלום',
  'Дом',
  'ǆ',
  '한',
  '\uffee',
  '😀',
  '\u{10ffff}',
  '\ufeff',
  '\u2028',
];
const controls = ['\n', '\t', '\u0001', '\u007f', 'a\nb', 'a\r\nb', '\\u0000', '\\Qa\\E'];
const looks = [
  '2024-02-29T12:00:00.000Z',
  'p1',
  `${OTHER}$p1`,
  'the quick brown fox',
  'Quick-Brown',
  "don't stop",
  'naïve café',
  'fox fox fox',
];
const long = ['long word '.repeat(400), 'x'.repeat(5000), 'ש '.repeat(3000)];
export const text = fc.oneof(
  { weight: 40, arbitrary: pick(...plainTexts) },
  { weight: 30, arbitrary: pick(...letters) },
  { weight: 10, arbitrary: pick(...controls) },
  { weight: 20, arbitrary: pick(...looks) },
  { weight: 1, arbitrary: pick(...long) },
  {
    weight: 10,
    arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }).filter((made) => made.isWellFormed() && !made.includes('\0')),
  },
);
export const number = fc.oneof(
  { weight: 4, arbitrary: pick(0, 1, -1, 2, 10, 1.5, -1.5, 0.1, 0.30000000000000004, 100) },
  {
    weight: 2,
    arbitrary: pick(
      -0,
      1e308,
      -1e308,
      Number.MAX_VALUE,
      5e-324,
      -5e-324,
      2 ** 53,
      2 ** 53 + 2,
      -(2 ** 53),
      1e21,
      1e20,
      1e-7,
      123456789012345680000,
    ),
  },
  { weight: 1, arbitrary: pick(2 ** 31, 2 ** 63, -(2 ** 63), 2 ** 64, 2 ** 63 - 1024, 1e15, 1e16, 4.35, 2.5, 0.5, 1 / 3) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
export const boolean = fc.boolean();
const instants = [
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2024-02-29T12:00:00.000Z',
  '2024-02-29T12:00:00.001Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
];
const spellings = [
  '2024-02-29T14:00:00+02:00',
  '2024-02-29T12:00:00Z',
  '2024-02-29',
  '2024-02-29T12:00',
  '2024-02-29T12:00:00.123456789Z',
  '1969-12-31T23:59:59.9999Z',
  '2024-12-29T00:00:00Z',
];
export const iso = pick(...instants, ...spellings);
export const date = iso.map((of): Json => ({ __type: 'Date', iso: of }));
export const otherId = pick('p1', 'p2', 'P1', 'p10', '1', 'é', 'gone');
export const mainId = pick('a', 'A', 'b', 'B', 'aa', '0', '1', 'z', '-1', 'é', '😀', '\uffee', 'a b', 'gone');
export const pointerTo = (className: string, id: fc.Arbitrary<string>) =>
  id.map((objectId): Json => ({ __type: 'Pointer', className, objectId }));
export const pointer = fc.oneof(pointerTo(OTHER, otherId), pointerTo(MAIN, mainId), pointerTo('_User', pick('master', 'u1')));
const file = pick('f1', 'f2', 'é x.png').map((name): Json => ({ __type: 'File', name, url: `http://h/${name}` }));
/** Keys inside Objects: some look like positions, some like our own words. */
export const label = fc.oneof(
  { weight: 4, arbitrary: pick('k', 'n', 's', 'list', 'sub', 'any') },
  {
    weight: 2,
    arbitrary: pick(
      '0',
      '1',
      '-1',
      '00',
      '+1',
      ' 1',
      '9999999999',
      'a b',
      '__x',
      '__type',
      'iso',
      'é"\\',
      'length',
      'K',
      "'",
      '%',
      '[0]',
      '*',
    ),
  },
);
export const scalar = fc.oneof(text, number, boolean, date, pointer, fc.constant(null));
const nested = (levels: number, wrap: (inner: Json) => Json): Json => (levels === 0 ? 1 : wrap(nested(levels - 1, wrap)));
const deep = pick(95, 99, 100, 101).chain((levels) =>
  pick(
    nested(levels, (k) => ({ k })),
    nested(levels, (k) => [k]),
  ),
);
const usual = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
    scalar,
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(label, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
/** Any value that an Array or an Object may hold. */
export const anything = fc.oneof({ weight: 50, arbitrary: usual }, { weight: 1, arbitrary: deep });
export const array: fc.Arbitrary<Json> = fc.array(
  fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: anything }),
  { maxLength: 4 },
);
export const object: fc.Arbitrary<Json> = fc
  .dictionary(label, fc.oneof({ weight: 2, arbitrary: scalar }, { weight: 1, arbitrary: anything }), {
    maxKeys: 5,
    noNullPrototype: true,
  })
  // `__type` at the top names a wire type.
  .map(({ __type, ...rest }) => rest);
const acl = fc.dictionary(
  pick('*', 'u1', 'u2', 'role:R'),
  pick<Json>({}, { read: true }, { read: true, write: true }, { write: true }, { read: false }),
  { maxKeys: 2, noNullPrototype: true },
);
const members = (op: string) =>
  fc.array(pointerTo(OTHER, otherId), { maxLength: 3 }).map((objects): Json => ({ __op: op, objects }));
const relation = fc.oneof(
  members('AddRelation'),
  members('RemoveRelation'),
  fc
    .array(fc.oneof(members('AddRelation'), members('RemoveRelation')), { maxLength: 2 })
    .map((ops): Json => ({ __op: 'Batch', ops })),
);

/** The fields of the main table: every type, and names that differ by case alone. */
export const fields = {
  s: { type: 'String', of: text },
  S: { type: 'String', of: text },
  h: { type: 'HTML/XML', of: text },
  n: { type: 'Number', of: number },
  m: { type: 'Number', of: number },
  b: { type: 'Boolean', of: boolean as fc.Arbitrary<Json> },
  d: { type: 'Date', of: date },
  p: { type: 'Pointer', targetClass: OTHER, of: pointerTo(OTHER, otherId) },
  q: { type: 'Pointer', targetClass: MAIN, of: pointerTo(MAIN, mainId) },
  a: { type: 'Array', of: array },
  l: { type: 'Array', of: fc.array(pointer, { maxLength: 3 }) as fc.Arbitrary<Json> },
  o: { type: 'Object', of: object },
  f: { type: 'File', of: file },
  r: { type: 'Relation', targetClass: OTHER, of: relation },
} satisfies Record<string, { type: string; targetClass?: string; of: fc.Arbitrary<Json> }>;
export type FieldName = keyof typeof fields;
export const fieldNames = Object.keys(fields) as FieldName[];

/** A record of the main table, mostly well-formed. */
export const record = fc
  .record(
    {
      ...Object.fromEntries(fieldNames.map((name) => [name, fields[name].of as fc.Arbitrary<Json>])),
      ACL: acl as fc.Arbitrary<Json>,
    },
    { requiredKeys: [] },
  )
  .chain((row) =>
    pick(...Object.keys(row), '').map((left) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== left))),
  );

/** JSON text; unlike JSON.stringify's, -0 stays what it is. */
export function jsonText(value: unknown): string {
  const mark = '\u0002-0\u0002';
  const written = JSON.stringify(value, (_key, one) => (Object.is(one, -0) ? mark : one));
  return written.replaceAll(JSON.stringify(mark), '-0');
}
