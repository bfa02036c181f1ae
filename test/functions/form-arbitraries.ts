/**
 * Random forms as text, so that they can hold values that JavaScript cannot. Keys prefer fields of the tables, internal fields and names with a
 * meaning elsewhere; some values are right, so that many forms succeed.
 */
import fc from 'fast-check';
import { anyJson, anyObject, anyText } from '../property/json-text.ts';
import { types } from './coercion-cases.ts';

/** Name of the field of a type in the tables of the property. */
export const nameOf = (type: string): string => `Own${type.replace('/', '')}`;

const fields = [...Object.keys(types).map(nameOf), 'Name', 'Email', 'City', 'LeadSourceId', 'AccountId', 'CompanyId'];
const reserved = [
  'IsAccount',
  'fromWeb2lead',
  'LeadStatusId',
  'SaleStatusId',
  'objectId',
  'ACL',
  'createdAt',
  'updatedAt',
  'createdBy',
];
const kept = [
  'updatedBy',
  '_phone_key',
  'dontRunPlatformTriggers',
  'dontUpdatePlatformTimeline',
  '_MasterKey',
  '_ApplicationId',
  '_method',
];
const odd = ['__proto__', 'constructor', 'toString', '', ' ', 'a.b', '$set', '__op', '__type', 'className', '_id', '_rperm', '%'];

const bare = fc.constantFrom(fields, fields, fields, reserved, kept, odd).chain((group) => fc.constantFrom(...group));
const key = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('', 'account_', 'table_'), bare).map(([group, name]) => group + name) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);

/** Texts that some type accepts. */
const rightTexts = [
  'text',
  '5',
  ' 5 ',
  '1,500',
  'true',
  'false',
  'abcdefghij',
  '2026-06-01',
  '6/1/2026',
  '2026-06-01T10:20:30.456Z',
  '',
];
const wrongTexts = [
  'short',
  '2026-6-1',
  'Infinity',
  "'; DROP TABLE Accounts;--",
  '9'.repeat(40),
  '{"__op":"Delete"}',
  '%00',
  '😀',
];
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...rightTexts) },
  { weight: 1, arbitrary: fc.constantFrom(...wrongTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);
const right = [
  'true',
  'false',
  '5',
  'null',
  '-1.5',
  '[]',
  '{}',
  '{"__type":"Pointer","className":"LeadSource","objectId":"abcdefghij"}',
  '{"__type":"Date","iso":"2026-06-01T10:20:30.456Z"}',
  '["abcdefghij"]',
  '{"__type":"File","name":"never.txt"}',
  '{"__op":"Delete"}',
  '{"a":{"$set":1}}',
];
/** Texts that no record can hold, or that are no JSON. */
const impossible = ['1e999', '{"__proto__":{"a":1}}', '['.repeat(150), `${'{"a":'.repeat(99)}1${'}'.repeat(99)}`];
const value = fc.oneof(
  { weight: 4, arbitrary: text.map((of) => JSON.stringify(of)) },
  { weight: 2, arbitrary: fc.constantFrom(...right) },
  { weight: 1, arbitrary: anyJson },
  { weight: 1, arbitrary: fc.constantFrom(right, right, right, impossible).chain((group) => fc.constantFrom(...group)) },
);

/** Phones from a small pool, so that many match, in spellings that match and that do not. */
const phone = fc.constantFrom(
  '0501234567',
  '+972-50-1234567',
  '972501234567',
  '03-1234567',
  '031234567',
  '1',
  '-',
  '0501234567x',
  '05',
  '',
);

export interface Pair {
  key: string;
  /** JSON text. */
  value: string;
}

/** Inputs that are accepted most of the time. */
function inputs(tables: readonly string[]): fc.Arbitrary<Pair[]> {
  const table = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...tables.slice(0, 3)) },
    { weight: 3, arbitrary: fc.constantFrom(...tables) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  );
  return fc.tuple(phone, table).map(([sent, target]) =>
    [
      ['PhoneNumber', sent],
      ['phone', sent],
      ['table', target],
    ].map(([name = '', of]) => ({ key: name, value: JSON.stringify(of) })),
  );
}

/** A JSON body, which is a valid form most of the time. */
export function body(tables: readonly string[]): fc.Arbitrary<string> {
  const pair = fc.record({ key, value });
  const shaped = fc
    .tuple(inputs(tables), fc.array(pair, { maxLength: 6 }), fc.boolean())
    .map(([first, more, isLast]) => toObject(isLast ? [...more, ...first] : [...first, ...more]));
  return fc.oneof({ weight: 8, arbitrary: shaped }, { weight: 1, arbitrary: anyText }, { weight: 1, arbitrary: anyObject });
}

const toObject = (pairs: Pair[]) => `{${pairs.map((pair) => `${JSON.stringify(pair.key)}:${pair.value}`).join(',')}}`;

/** A body or query of a form: encoded pairs, sometimes malformed. */
export function encoded(tables: readonly string[]): fc.Arbitrary<string> {
  const name = fc.tuple(key, fc.constantFrom('', '', '[]', '[a]')).map((parts) => parts.join(''));
  const pair = fc.record({ key: name, value: text });
  const shaped = fc
    .tuple(inputs(tables), fc.array(pair, { maxLength: 6 }))
    .map(([first, more]) =>
      [...first.map((of) => ({ key: of.key, value: JSON.parse(of.value) as string })), ...more]
        .map((of) => `${encode(of.key)}=${encode(of.value)}`)
        .join('&'),
    );
  const broken = fc.tuple(
    shaped,
    fc.constantFrom('&%', '&%zz=%f', '&=', '&&&', '&table', '&phone=%ff', '&a=%00', '&a=%ED%A0%80'),
  );
  return fc.oneof({ weight: 6, arbitrary: shaped }, { weight: 2, arbitrary: broken.map((parts) => parts.join('')) });
}

const encode = (of: string) => encodeURIComponent(of.toWellFormed());
