/**
 * Random JSON texts, created as texts so that they contain what no JavaScript value can: duplicate keys, 1e999, lone surrogates, a key `__proto__`.
 * Keys and strings favour words that have a meaning in the interface.
 */
import fc from 'fast-check';

const operators = ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte', '$in', '$nin', '$exists', '$regex', '$options', '$text', '$all'];
const queryWords = [
  '$containedBy',
  '$or',
  '$and',
  '$nor',
  '$not',
  '$inQuery',
  '$notInQuery',
  '$select',
  '$dontSelect',
  '$relatedTo',
];
const argumentWords = ['$search', '$term', '$relativeTime', '$foo', 'query', 'key', 'object', 'where', 'limit', 'order', 'keys'];
const valueWords = ['__type', '__op', 'className', 'objectId', 'iso', 'amount', 'objects', 'ops', 'name', 'url', 'base64'];
const systemWords = ['ACL', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'username', 'password', 'Name', 'Value', 'users'];
const schemaWords = [
  'fields',
  'classLevelPermissions',
  'indexes',
  'textIndex',
  'timeline',
  'type',
  'targetClass',
  'find',
  'addField',
];
const batchWords = ['requests', 'method', 'path', 'body'];
const credentials = ['_method', '_ApplicationId', '_MasterKey', '_apiKey', '_SessionToken', '_ClientVersion'];
const hostile = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  ' ',
  '*',
  'role:X',
  'a.b',
  'a.0',
];
const odd = [
  'a.__proto__',
  '\u0000',
  '\ud800',
  'שם',
  'a"b',
  "x'); DROP TABLE Sentinel;--",
  '$',
  'rowid',
  '_rowid_',
  '%',
  '?',
  ':a',
];
const fields = ['a', 'b', 'c', 'A', 'obj.a', 'obj', 'arr', 'ptr'];

const groups = [
  operators,
  queryWords,
  argumentWords,
  valueWords,
  systemWords,
  schemaWords,
  batchWords,
  credentials,
  hostile,
  odd,
  fields,
];
const word = fc.constantFrom(...groups).chain((group) => fc.constantFrom(...group));

const meanings = ['Increment', 'Add', 'AddUnique', 'Remove', 'Delete', 'Batch', 'SetOnInsert', 'AddRelation', 'RemoveRelation'];
const types = [
  'Date',
  'Pointer',
  'File',
  'PrivateFile',
  'Relation',
  'Object',
  'Array',
  'String',
  'Number',
  'Boolean',
  'Bytes',
  'ACL',
];
const contents = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  '/platform/classes/Fuzz',
  '/platform/classes/Fuzz/a',
  '/platform/batch',
  'Fuzz',
  '_User',
];
const texts = ['(', '(a+)+$', '[', '\\Q', '2024-02-30', '2024-02-29T12:00:00.000Z', '3 days ago', 'imsx', 'master', '-1', '%00'];
const textGroups = [meanings, types, contents, texts];
const string = fc.oneof(
  fc.constantFrom(...textGroups).chain((group) => fc.constantFrom(...group)),
  word,
  fc.string({ unit: 'binary', maxLength: 8 }),
);

const numbers = ['0', '-0', '1', '-1', '1.5', '1e308', '1e999', '-1e999', '5e-324', '9007199254740993', '18446744073709551616'];
const leaf = fc.oneof(
  string.map((text) => JSON.stringify(text)),
  fc.constantFrom(...numbers, 'true', 'false', 'null', '[]', '{}'),
  fc.double().map((value) => JSON.stringify(value)),
);

const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
    tie('object'),
  ),
  object: fc.array(fc.tuple(word, tie('value')), { maxLength: 5 }).map(toObject),
}));

function toObject(entries: [string, string][]): string {
  return `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** Any JSON value, as text. */
export const anyJson: fc.Arbitrary<string> = value;
/** A JSON object, as text: passes the first check of every body. */
export const anyObject: fc.Arbitrary<string> = object;
/** Text that is JSON, nearly JSON, or not JSON at all. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: object },
  { weight: 2, arbitrary: value },
  { weight: 1, arbitrary: fc.tuple(object, fc.nat(40)).map(([text, end]) => text.slice(0, end)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);
