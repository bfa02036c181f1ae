/**
 * Table of form values: what is sent, and what is stored (functions.md#form-values).
 * `lead` is a field of `getlead`, `account` one with the prefix `account_`, `row` one with `table_`.
 */
import { date, pointer } from '../support/records.ts';

export const places = ['lead', 'account', 'row'] as const;
export type Place = (typeof places)[number];

/** The value is not stored (not written, dropped, or null), and the request is 200. */
export const missing = Symbol('missing');
/** Code 111. @param got the type name in the text */
export class Refused {
  readonly got: string;
  constructor(got: string) {
    this.got = got;
  }
}

export type Case = [sent: unknown, result: unknown, ...only: Place[]];

export const types = {
  String: 'String',
  'HTML/XML': 'HTML/XML',
  Number: 'Number',
  Boolean: 'Boolean',
  Date: 'Date',
  Pointer: 'Pointer<LeadSource>',
  Array: 'Array',
  Object: 'Object',
  Relation: 'Relation<LeadSource>',
  File: 'File',
  PrivateFile: 'PrivateFile',
} as const;
export type Type = keyof typeof types;

const got = (type: string) => new Refused(type);
const day = (iso: string) => date(`${iso}T00:00:00.000Z`);
const to = (id: string) => pointer('LeadSource', id);

/** For every type: an empty text or null is not written. */
const empty: Case[] = [
  ['', missing],
  [null, missing],
];

const text: Case[] = [
  ['text', 'text'],
  [' שלום "עולם" \\ %_\' 😀 ', ' שלום "עולם" \\ %_\' 😀 '],
  [' ', ' '],
  ['null', 'null'],
  ['5', '5'],
  ['{"__op":"Delete"}', '{"__op":"Delete"}'],
  [5, '5'],
  [0, '0'],
  [-1.5, '-1.5'],
  [1e21, '1e+21'],
  [true, got('Boolean')],
  [false, got('Boolean')],
  [{}, got('Object')],
  [{ a: 1 }, got('Object')],
  [[], got('Array')],
  [['text'], got('Array')],
  [date('2026-06-01T00:00:00.000Z'), got('Date')],
  [to('abcdefghij'), got('Pointer<LeadSource>')],
];

const aDate = { year: '2026-06-01', iso: '2026-06-01T10:20:30.456Z' };

export const cases: Record<Type, Case[]> = {
  String: [...empty, ...text],
  'HTML/XML': [...empty, ...text, ['<p onclick="x()">שלום &amp; <b>', '<p onclick="x()">שלום &amp; <b>']],
  Number: [
    ...empty,
    [5, 5],
    [0, 0],
    [-1.5, -1.5],
    [1e308, 1e308],
    ['5', 5],
    ['0', 0],
    ['-2.25', -2.25],
    ['007', 7],
    [' 7 ', 7],
    ['1e3', 1000],
    // `"1,500"` and `"abc"` are stored as null.
    ['1,500', missing],
    ['abc', missing],
    ['5 apples', missing],
    ['1.2.3', missing],
    ['Infinity', missing],
    ['-Infinity', missing],
    ['1e999', missing],
    ['NaN', missing],
    ['true', missing],
    ['٥', missing],
    [true, got('Boolean')],
    [false, got('Boolean')],
    [{}, got('Object')],
    [[5], got('Array')],
    [[], got('Array')],
  ],
  Boolean: [
    ...empty,
    [true, true],
    [false, false],
    ['true', true],
    ['false', false],
    // Any other string is stored as false.
    ['True', false],
    ['TRUE', false],
    ['yes', false],
    ['on', false],
    ['1', false],
    ['0', false],
    [' ', false],
    [' true', false],
    ['null', false],
    [1, got('Number')],
    [0, got('Number')],
    [{}, got('Object')],
    [[], got('Array')],
    [[true], got('Array')],
  ],
  Date: [
    ...empty,
    [aDate.year, day(aDate.year)],
    ['2024-02-29', day('2024-02-29')],
    ['1950-12-31', day('1950-12-31')],
    [aDate.iso, date(aDate.iso)],
    ['2026-06-01T10:20:30Z', date('2026-06-01T10:20:30.000Z')],
    ['2026-06-01T10:20:30+03:00', date('2026-06-01T07:20:30.000Z')],
    [date(aDate.iso), date(aDate.iso)],
    // A slash string is read as month/day.
    ['6/1/2026', day('2026-06-01')],
    ['06/01/2026', day('2026-06-01')],
    ['12/31/2026', day('2026-12-31')],
    ['2/29/2024', day('2024-02-29')],
    ['31/12/2026', got('String')],
    ['2/30/2026', got('String')],
    ['2/29/2026', got('String')],
    ['0/1/2026', got('String')],
    ['6/1/26', got('String')],
    ['6/1', got('String')],
    ['2026-6-1', got('String')],
    ['2026-06-1', got('String')],
    ['2026-02-30', got('String')],
    ['2026-13-01', got('String')],
    ['2026/06/01', got('String')],
    ['01.06.2026', got('String')],
    ['01-06-2026', got('String')],
    ['2026-06', got('String')],
    ['2026', got('String')],
    ['tomorrow', got('String')],
    ['1780272000000', got('String')],
    [' ', got('String')],
    ['x2026-06-01', got('String')],
    ['2026-06-01x', got('String')],
    [1780272000000, got('Number')],
    [true, got('Boolean')],
    [{}, got('Object')],
    [{ iso: aDate.iso }, got('Object')],
    [[], got('Array')],
    [to('abcdefghij'), got('Pointer<LeadSource>')],
  ],
  Pointer: [
    ...empty,
    // An unknown but well-formed objectId is stored as a dangling Pointer.
    ['abcdefghij', to('abcdefghij')],
    ['0123456789', to('0123456789')],
    [to('abcdefghij'), to('abcdefghij'), 'lead', 'account'],
    [to('abcdefghij'), missing, 'row'],
    [pointer('Tags', 'abcdefghij'), got('Pointer<Tags>'), 'lead', 'account'],
    [pointer('Tags', 'abcdefghij'), missing, 'row'],
    [{}, got('Object'), 'lead', 'account'],
    [{}, missing, 'row'],
    [{ objectId: 'abcdefghij' }, got('Object'), 'lead', 'account'],
    [{ objectId: 'abcdefghij' }, missing, 'row'],
    ...['short', 'abcdefghi', 'abcdefghijk', ' ', 'x'.repeat(1_000)].flatMap((id): Case[] => [
      [id, got('String'), 'lead', 'account'],
      [id, missing, 'row'],
    ]),
    [5, got('Number')],
    [1234567890, got('Number')],
    [true, got('Boolean')],
    [[], got('Array')],
    [['abcdefghij'], got('Array')],
  ],
  Array: [
    ...empty,
    [
      [to('abcdefghij'), to('0123456789')],
      [to('abcdefghij'), to('0123456789')],
    ],
    // A bare-id array is stored.
    [
      ['abcdefghij', '0123456789'],
      ['abcdefghij', '0123456789'],
    ],
    [['short'], ['short']],
    [[], []],
    [
      [1, 'two', true, null, { three: [3] }, ['']],
      [1, 'two', true, null, { three: [3] }, ['']],
    ],
    ['abcdefghij', got('String')],
    ['[]', got('String')],
    [' ', got('String')],
    [5, got('Number')],
    [true, got('Boolean')],
    [{}, got('Object')],
    [{ 0: 'abcdefghij' }, got('Object')],
    [to('abcdefghij'), got('Pointer<LeadSource>')],
  ],
  Object: [
    ...empty,
    [{}, {}],
    [
      { a: 1, b: { c: [1, '', null], ד: true } },
      { a: 1, b: { c: [1, '', null], ד: true } },
    ],
    ['text', got('String')],
    ['{}', got('String')],
    [' ', got('String')],
    [5, got('Number')],
    [true, got('Boolean')],
    [[], got('Array')],
    [date(aDate.iso), got('Date')],
    [to('abcdefghij'), got('Pointer<LeadSource>')],
  ],
  // Relations are not written.
  Relation: [
    ...empty,
    ['abcdefghij', missing],
    [5, missing],
    [true, missing],
    [[to('abcdefghij')], missing],
    [{ __type: 'Relation', className: 'LeadSource' }, missing],
    [{ __op: 'AddRelation', objects: [to('abcdefghij')] }, missing],
  ],
  File: files('File'),
  PrivateFile: files('PrivateFile'),
};

/** Only fields with `table_` take files: there, all but a File object is 111. Elsewhere values are ignored. Stored files: files.test.ts. */
function files(type: string): Case[] {
  const file = { __type: 'File', name: `${'0'.repeat(32)}_a.txt`, url: 'https://example.com/a.txt' };
  const wrong: [unknown, string][] = [
    ['https://example.com/a.txt', 'String'],
    [' ', 'String'],
    [5, 'Number'],
    [true, 'Boolean'],
    [[], 'Array'],
    [[file], 'Array'],
    [{}, 'Object'],
    [{ name: file.name, url: file.url }, 'Object'],
    [to('abcdefghij'), 'Pointer<LeadSource>'],
  ];
  const passedOver: Case[] = [file, { __type: type, name: 5 }, ...wrong.map(([sent]) => sent)].map((sent) => [
    sent,
    missing,
    'lead',
    'account',
  ]);
  return [...empty, ...passedOver, ...wrong.map(([sent, type]): Case => [sent, got(type), 'row'])];
}

/** Operators of the records API, which a form must never execute: 111 or ignored, for every type and place. */
export const operators: unknown[] = [
  { __op: 'Delete' },
  { __op: 'Increment', amount: 5 },
  { __op: 'Add', objects: [1] },
  { __op: 'AddUnique', objects: [1] },
  { __op: 'Remove', objects: [1] },
  { __op: 'SetOnInsert', amount: 'x' },
  { __op: 'AddRelation', objects: [to('abcdefghij')] },
  { __op: 'Batch', ops: [{ __op: 'AddRelation', objects: [to('abcdefghij')] }] },
  { __op: 'Nope' },
  { __op: 5 },
  { __op: null },
  { __type: 'Nope' },
  { __type: 'Pointer' },
  { __type: 'Pointer', className: 'LeadSource', objectId: 5 },
  { __type: 'Date', iso: 'yesterday' },
  { __type: 'Date', iso: 5 },
  { __type: 'Bytes', base64: 'eA==' },
  { __type: 'GeoPoint', latitude: 1, longitude: 1 },
];
