/** Texts and values that no client should send, for every place of a request. */
import fc from 'fast-check';

const SQL = [
  `'`,
  `"`,
  `' OR '1'='1`,
  `"; DROP TABLE "Accounts"; --`,
  `') UNION SELECT 1 --`,
  '$1',
  '?1',
  '%s',
  '{{Name}}',
  '\\',
  '`',
];
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '_id',
  '_p_AccountId',
  '$where',
  'null',
  '*',
];
const SHAPES = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  '..\\..\\x',
  '/',
  'a/b',
  'a.b',
  'a..b',
  '.a',
  'a.',
  'a\nb',
  'a\r\nb: c',
  '\t',
  '#',
  '?',
  '&',
  '+',
];
const NUMBERS = [
  '-0',
  '1e400',
  '9007199254740993',
  'NaN',
  'Infinity',
  '-1',
  '1e-400',
  '0x10',
  '١٢٣',
  '99999999999999999999',
  '1.5',
];
const DATES = [
  '275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00.000Z',
  '2024-02-30T00:00:00.000Z',
  '0000-00-00',
  '2024-01-01',
];
const UNICODE = [
  'é',
  'e\u0301',
  '\u202eabc',
  'עברית',
  '👩‍👩‍👧',
  '\ufeffa',
  '\u2028',
  '\u0085',
  '\ufffd',
  '\uffff',
  'İ',
  'ﬁ',
  '𝒜',
  `a${'\u0301'.repeat(200)}`,
];
const CONTROLS = ['\0', 'a\0', '\0a', 'abcdefghi\0', '\u0001', '\u007f', '\u001f'];
const LONG = ['x'.repeat(300), 'x'.repeat(5_000), 'א'.repeat(1_500), '_'.repeat(129)];

/** A text of one of these kinds, or of any characters; well-formed, so that it can be anywhere. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...CONTROLS) },
  { weight: 3, arbitrary: fc.constantFrom(...SQL) },
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 3, arbitrary: fc.constantFrom(...SHAPES) },
  { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom(...DATES) },
  { weight: 2, arbitrary: fc.constantFrom(...UNICODE) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }) },
);

/** Parts of an address that decode to nothing, or that encode the same text differently. */
const MALFORMED = [
  '%',
  '%0',
  '%zz',
  '%C0%AF',
  '%E0%80%80',
  '%ED%A0%80',
  '%F4%90%80%80',
  '%FF',
  '%2525',
  '%252F',
  '%2e%2e',
  '%00',
  'a%00b',
  '%u0041',
  '%0d%0a',
];

/** A text as part of an address: encoded, encoded twice, or not decodable. */
export const hostilePart: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: hostileText.map((text) => encodeURIComponent(text)) },
  { weight: 1, arbitrary: hostileText.map((text) => encodeURIComponent(encodeURIComponent(text))) },
  { weight: 3, arbitrary: fc.constantFrom(...MALFORMED) },
);

/** A text as JSON, with escapes of code units that no well-formed text contains. */
const jsonString: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: hostileText.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.constantFrom('"\\ud800"', '"\\udc00x"', '"\\u0000"', '"a\\ud83dz"') },
);

const jsonNumber = fc.constantFrom(
  '-0',
  '0',
  '1e308',
  '1e400',
  '-1e400',
  '9007199254740993',
  '1e-7',
  '0.1',
  '2147483648',
  '-1',
  '99999999999999999999',
);
const WRAPPED = [
  '{"__type":"Pointer","className":"Accounts","objectId":"a\\u0001"}',
  '{"__type":"Pointer","className":"../x","objectId":"abcdefghij"}',
  '{"__type":"Pointer","className":"_OAuthItem","objectId":"x"}',
  '{"__type":"Pointer","objectId":5}',
  '{"__type":"Date","iso":"275760-09-13T00:00:00.001Z"}',
  '{"__type":"Date","iso":5}',
  '{"__type":"File","name":"../x","url":"file:///etc/passwd"}',
  '{"__type":"File","name":"a"}',
  '{"__type":"Relation","className":"x y"}',
  '{"__type":"GeoPoint","latitude":1e999}',
  '{"__op":"Increment","amount":"1"}',
  '{"__op":"AddRelation","objects":[{"__type":"Pointer","className":"Accounts","objectId":"\'"}]}',
  '{"__op":"Batch","ops":[{"__op":"Batch","ops":[]}]}',
  '{"__op":"__proto__"}',
  '{"__op":5}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"$regex":"("}',
  '{"$regex":"a","$options":"q"}',
  '{"$in":5}',
  '{"$inQuery":{"className":"x\\u0001","where":{}}}',
  '{"$select":{"key":"..","query":{"className":"Accounts"}}}',
  '{"$text":{"$search":{"$term":"\\"x"}}}',
  '{"$gt":{"__type":"Date","iso":"x"}}',
  '{"a.b":1,"$c":2,"":3}',
];

/** JSON text of a value: a hostile text, or a value of an unexpected type, depth or shape. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: jsonString },
  { weight: 2, arbitrary: jsonNumber },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', '[]', '{}', '[[]]', '[null]', '""', '{"":""}') },
  { weight: 4, arbitrary: fc.constantFrom(...WRAPPED) },
  { weight: 1, arbitrary: fc.integer({ min: 40, max: 110 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)) },
  { weight: 1, arbitrary: fc.integer({ min: 40, max: 110 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) },
  { weight: 1, arbitrary: fc.array(jsonString, { maxLength: 3 }).map((all) => `[${all.join(',')}]`) },
  { weight: 1, arbitrary: fc.tuple(jsonString, jsonString).map(([key, value]) => `{${key}:${value}}`) },
);

/** A header's value, of any bytes except line ends and NUL, which the protocol itself refuses. */
export const hostileHeader: fc.Arbitrary<string> = hostileText
  .map((text) => Buffer.from(text).toString('latin1'))
  .filter((text) => Array.from(text).every((byte) => byte >= ' ' && byte !== '\u007f'));
