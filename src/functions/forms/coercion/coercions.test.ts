import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../../errors/fail.ts';
import { type Field, type FieldType, fieldTypes, typeText } from '../../../schema/model.ts';
import { typeOfValue } from '../../../values/json/infer.ts';
import { type SentValue, type ValueSource, valueSources } from './coercion.ts';
import { coercionOf } from './coercions.ts';

const id = 'abcdefghij';
const cities = { __type: 'Pointer', className: 'CityList', objectId: id };
const courses = { __type: 'Pointer', className: 'Courses', objectId: id };
const day = { __type: 'Date', iso: '2026-06-01T00:00:00.000Z' };
const upload = { __type: 'File', name: 'a_b.png' };

/** Every form of value that JSON and web forms can contain. */
const sent = {
  'a text': 'abc',
  'white space': ' ',
  digits: ' 15 ',
  true: 'true',
  'an ISO day': '2026-06-01',
  'an id': id,
  'a number': 5,
  'a Boolean': true,
  'an array': [cities],
  'an object': { a: 1 },
  'an operator': { __op: 'Increment', amount: 1 },
  'a Date': { ...day, iso: '2026-06-01T00:00:00Z' },
  'a Pointer': cities,
  'a Pointer to others': courses,
  'a File': { ...upload, url: 'http://localhost/', public: true },
} as const;
type Sent = keyof typeof sent;

/** Rejected with 111, with the texts of the reference (errors.md#codes). */
const REFUSED = Symbol('refused');
/** Ignored. */
const DROPPED = undefined;

type Outcome = unknown;
type Row = Readonly<Partial<Record<Sent, Outcome>>> & { readonly others: Outcome };

const textual: Row = {
  'a text': 'abc',
  'white space': ' ',
  digits: ' 15 ',
  true: 'true',
  'an ISO day': '2026-06-01',
  'an id': id,
  'a number': '5',
  others: REFUSED,
};
const pointer: Row = { 'an id': cities, 'a Pointer': cities, others: REFUSED };
const texts = { 'a text': null, 'white space': null, true: null, 'an ISO day': null, 'an id': null };
const file: Row = { 'a File': upload, others: REFUSED };
const dropped: Row = { others: DROPPED };
const anywhere = (row: Row): Readonly<Record<ValueSource, Row>> => ({ lead: row, account: row, row });

/** The expected results. Reference: functions.md#form-values. */
const expected: Readonly<Record<FieldType, Readonly<Record<ValueSource, Row>>>> = {
  String: anywhere(textual),
  'HTML/XML': anywhere(textual),
  Number: anywhere({ ...texts, digits: 15, 'a number': 5, others: REFUSED }),
  Boolean: anywhere({
    ...{ 'a text': false, 'white space': false, digits: false, 'an ISO day': false, 'an id': false },
    ...{ true: true, 'a Boolean': true, others: REFUSED },
  }),
  Date: anywhere({ 'an ISO day': day, 'a Date': day, others: REFUSED }),
  Pointer: {
    lead: { ...pointer, 'an ISO day': { ...cities, objectId: '2026-06-01' } },
    account: { ...pointer, 'an ISO day': { ...cities, objectId: '2026-06-01' } },
    row: {
      ...{ 'an id': cities, 'an ISO day': { ...cities, objectId: '2026-06-01' } },
      ...{ 'a number': REFUSED, 'a Boolean': REFUSED, 'an array': REFUSED, others: DROPPED },
    },
  },
  Array: anywhere({ 'an array': [cities], others: REFUSED }),
  Object: anywhere({ 'an object': { a: 1 }, others: REFUSED }),
  File: { lead: dropped, account: dropped, row: file },
  PrivateFile: { lead: dropped, account: dropped, row: file },
  Relation: anywhere(dropped),
  ACL: anywhere(dropped),
};

const fieldOf = (type: FieldType, name = 'F'): Field => ({
  name,
  type,
  column: name,
  ...(type === 'Pointer' || type === 'Relation' ? { targetClass: 'CityList' } : {}),
});

/** Returns the wire form, or the text of the error and its code. */
function outcome(field: Field, place: ValueSource, value: SentValue): unknown {
  try {
    return coercionOf(field, place)(value, field, 'T');
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return `${error.code} ${error.message}`;
  }
}

for (const type of fieldTypes)
  for (const place of valueSources)
    test(`${type} at ${place}`, () => {
      const field = fieldOf(type);
      for (const [form, value] of Object.entries(sent) as unknown as [Sent, SentValue][]) {
        const row = expected[type][place];
        const wanted = form in row ? row[form] : row.others;
        const mismatch = `111 schema mismatch for T.F; expected ${typeText(type, field.targetClass)} but got ${typeOfValue(value)}`;
        assert.deepEqual(outcome(field, place, value), wanted === REFUSED ? mismatch : wanted, form);
      }
    });

test('numbers are texts that JavaScript reads as such; others are null', () => {
  const number = fieldOf('Number');
  const read = (text: string) => outcome(number, 'lead', text);
  for (const [text, value] of [
    ['15', 15],
    ['-2.5', -2.5],
    ['1e3', 1000],
    ['\t7\n', 7],
    ['.5', 0.5],
  ] as const)
    assert.equal(read(text), value, text);
  for (const text of ['1,500', 'abc', '1 500', '5%', 'Infinity', '-Infinity', '1e999', 'NaN', '  ', '12px', '--1'])
    assert.equal(read(text), null, text);
});

test('Booleans: lower-case true alone is true', () => {
  for (const text of ['True', 'TRUE', ' true', 'yes', '1', 'on', 'false', '0'])
    assert.equal(outcome(fieldOf('Boolean'), 'row', text), false);
});

test('IsAccount takes no text but in a target row', () => {
  const isAccount = fieldOf('Boolean', 'IsAccount');
  const refused = '111 schema mismatch for T.IsAccount; expected Boolean but got String';
  for (const text of ['true', 'false', ' ', 'x']) {
    assert.equal(outcome(isAccount, 'lead', text), refused);
    assert.equal(outcome(isAccount, 'account', text), refused);
    assert.equal(outcome(isAccount, 'row', text), text === 'true');
  }
  for (const place of valueSources) assert.equal(outcome(isAccount, place, true), true);
  assert.equal(outcome(fieldOf('String', 'IsAccount'), 'lead', 'x'), 'x');
});

test('dates: ISO 8601, month first with slashes, nothing else', () => {
  const read = (value: SentValue) => outcome(fieldOf('Date'), 'row', value);
  const at = (iso: string) => ({ __type: 'Date', iso });
  for (const [text, iso] of [
    ['2026-02-28', '2026-02-28T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-06-01T10:20', '2026-06-01T10:20:00.000Z'],
    ['2026-06-01T10:20:30.1234567+03:00', '2026-06-01T07:20:30.123Z'],
    ['6/1/2026', '2026-06-01T00:00:00.000Z'],
    ['06/01/2026', '2026-06-01T00:00:00.000Z'],
    ['12/31/1999', '1999-12-31T00:00:00.000Z'],
  ] as const)
    assert.deepEqual(read(text), at(iso), text);
  const mismatch = '111 schema mismatch for T.F; expected Date but got String';
  for (const text of [
    ...[
      '2026-6-1',
      '2026-06-1',
      '2026-02-29',
      '2026-02-30',
      '2026-13-01',
      '20260601',
      '2026-06',
      '2026-06-01 10:20',
      ' 2026-06-01',
    ],
    ...[
      '25/12/2026',
      '2/30/2026',
      '0/1/2026',
      '6/0/2026',
      '6/1/26',
      '6/1/2026 10:00',
      '6-1-2026',
      '1.6.2026',
      'June 1, 2026',
      '1780272000000',
    ],
  ])
    assert.equal(read(text), mismatch, text);
  assert.equal(read({ __type: 'Date', iso: '2026-6-1' }), '111 This is not a valid Date');
  assert.equal(read({ __type: 'Date' }), '111 This is not a valid Date');
});

test('Pointers: ids of ten characters', () => {
  const read = (place: ValueSource, value: SentValue) => outcome(fieldOf('Pointer'), place, value);
  const mismatch = '111 schema mismatch for T.F; expected Pointer<CityList> but got String';
  for (const text of ['abcdefghi', 'abcdefghijk', ' ', 'x'.repeat(1000)]) {
    assert.equal(read('lead', text), mismatch);
    assert.equal(read('account', text), mismatch);
    assert.equal(read('row', text), undefined);
  }
  // An included record that is sent back counts as its Pointer; ids chosen by callers may have any length.
  assert.deepEqual(read('lead', { __type: 'Object', className: 'CityList', objectId: id, Name: 'Haifa' }), cities);
  assert.deepEqual(read('account', { ...cities, objectId: 'x' }), { ...cities, objectId: 'x' });
  assert.equal(read('lead', { __type: 'Pointer', className: 'CityList' }), '111 This is not a valid Pointer');
  for (const value of [{ __type: 'Pointer' }, { __op: 'Delete' }, {}]) assert.equal(read('row', value), undefined);
});

test('arrays hold anything that an Array field may hold', () => {
  const read = (value: SentValue) => outcome(fieldOf('Array'), 'account', value);
  for (const value of [[], [id], [1, 'a', null, [true], { a: { __op: 'Delete' } }]]) assert.deepEqual(read(value), value);
  assert.match(read([{ 'a.b': 1 }]) as string, /^121 /);
  assert.match(read([{ __type: 'Date', iso: 'x' }]) as string, /^111 /);
  assert.match(outcome(fieldOf('Object'), 'row', JSON.parse('{"a":{"__proto__":1}}')) as string, /^105 /);
});

test('File objects need a name', () => {
  for (const value of [{ __type: 'File' }, { __type: 'File', name: '' }, { __type: 'File', name: 5 }, { ...upload, url: 5 }])
    assert.equal(outcome(fieldOf('File'), 'row', value), '111 This is not a valid File');
  assert.equal(
    outcome(fieldOf('PrivateFile'), 'row', 'http://localhost/a.png'),
    '111 schema mismatch for T.F; expected PrivateFile but got String',
  );
});
