import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** A request with a large body. */
export interface LargeBody {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly type?: string;
  readonly isChunked?: true;
  readonly encoding?: string;
  /** The status of the answer, and the code of its error. */
  readonly answer: string;
  make(): Buffer;
}

/** The records and tables that the bodies refer to. */
export interface BodyTargets {
  readonly appId: string;
  readonly table: string;
  /** A record whose `List` has 390,000 elements. */
  readonly listed: string;
  /** A record with a text of 20 MB. */
  readonly large: string;
  /** A record to be updated. */
  readonly plain: string;
  /** A table with a unique index over `Key`. */
  readonly keyed: string;
  /** A table with its timeline on. */
  readonly logged: string;
}

const MAX = 20 * 1024 * 1024;

/** Returns a unit so often that a body of the largest size is nearly full. */
const many = (unit: string, length = MAX - 1_000): string => unit.repeat(Math.floor(length / unit.length));
const numbers = (length: number) => Array.from({ length }, (_, at) => at % 10).join(',');

/** The answers of kinds that are refused, and of those that do not answer as a create does. Forms, tools and batches answer 200. */
const answers: Readonly<Record<string, string>> = {
  'string, lone surrogate at its end': '400 107',
  'invalid UTF-8': '413 116',
  'one number of 20 MB': '400 107',
  'nested arrays': '400 107',
  'nested objects': '400 107',
  '1,000,000 distinct keys': '413 116',
  '80,000 distinct keys': '400 136',
  'duplicate keys': '413 116',
  'too many []': '413 116',
  '5,000,000 numbers': '413 116',
  'whitespace only': '400 107',
  'malformed at the last byte': '400 107',
  'long string, malformed at the last byte': '400 107',
  'a long key': '400 105',
  'where with 390,000 values, refused': '400 102',
  'where as a text of 20 MB': '400 102',
  'Content-Encoding: gzip, incompressible': '400 107',
  'Content-Encoding: gzip, 20 MB inflated': '400 107',
  'schema of 20 MB': '413 116',
  '__proto__ keys': '400 105',
  'form: too many numbers': '413 116',
  'form: 180,000 keys': '413 116',
  'form: urlencoded, 1,000,000 names': '400 107',
  'form: urlencoded, one name 4,000,000 times': '400 107',
  'tool: too many numbers': '413 -32000',
  'tool: nested': '400 -32700',
};

const bytesOf = (make: () => string) => () => Buffer.from(make());

/** Bodies of REST's data endpoints. */
function dataBodies({ table, listed, plain, keyed, logged }: BodyTargets): LargeBody[] {
  const path = `/platform/classes/${table}`;
  const post = (name: string, make: () => Buffer, more: Partial<LargeBody> = {}): LargeBody => ({
    name,
    method: 'POST',
    path,
    answer: answers[name] ?? (more.method || (more.path && more.path !== path) || name.startsWith('where') ? '200' : '201'),
    make,
    ...more,
  });
  const field = (name: string, value: () => string) => () => Buffer.from(`{"${name}":${value()}}`);
  const batch = (items: () => string) => () => Buffer.from(`{"requests":[${items()}]}`);
  const item = (body: string) => `{"method":"POST","path":"${path}","body":${body}}`;
  const objects = (length: number, of: (at: number) => string) => Array.from({ length }, (_, at) => of(at)).join(',');
  return [
    post(
      'string, ASCII',
      field('Text', () => `"${many('a')}"`),
    ),
    post(
      'string, \\u0041',
      field('Text', () => `"${many('\\u0041')}"`),
    ),
    post(
      'string, \\n',
      field('Text', () => `"${many('\\n')}"`),
    ),
    post(
      'string, escaped quotes',
      field('Text', () => `"${many('\\"')}"`),
    ),
    post(
      'string, surrogate pairs',
      field('Text', () => `"${many('😀', MAX / 2 - 1_000)}"`),
    ),
    post(
      'string, with timeline',
      field('Text', () => `"${many('\\"')}"`),
      { path: `/platform/classes/${logged}`, answer: '201' },
    ),
    post(
      'string in an Object',
      field('Data', () => `{"a":"${many('\\"')}"}`),
    ),
    post(
      'string, two-byte',
      field('Text', () => `"${many('ש', MAX / 2 - 1_000)}"`),
    ),
    post(
      'string, escaped pairs',
      field('Text', () => `"${many('\\ud83d\\ude00')}"`),
    ),
    post(
      'string, lone surrogate at its end',
      field('Text', () => `"${many('\\u0041')}\\ud800"`),
    ),
    post('invalid UTF-8', () => Buffer.concat([Buffer.from('{"Text":"'), Buffer.alloc(MAX - 1_000, 0xc3), Buffer.from('"}')])),
    post(
      'one number of 20 MB',
      field('Number', () => `1${many('0')}`),
    ),
    post(
      'number with fraction',
      field('Number', () => `0.${many('7')}`),
    ),
    post('nested arrays', () => Buffer.from(many('['))),
    post('nested objects', () => Buffer.from(many('{"a":'))),
    post(
      'nested to 99, again and again',
      field('List', () => `[${many(`${'['.repeat(97)}${']'.repeat(97)},`, 4_900_000)}1]`),
    ),
    post(
      'nested to 99 in an Object',
      field('Data', () => `{"a":[${many(`${'['.repeat(96)}${']'.repeat(96)},`, 770_000)}1]}`),
    ),
    post('1,000,000 distinct keys', () => Buffer.from(`{${objects(1_000_000, (at) => `"k${at}":1`)}}`)),
    post(
      '80,000 distinct keys in an Object',
      field('Data', () => `{${objects(80_000, (at) => `"k${at}":1`)}}`),
    ),
    post('80,000 distinct keys', () => Buffer.from(`{${objects(80_000, (at) => `"k${at}":1`)}}`)),
    post('duplicate keys', () => Buffer.from(`{${many('"a":1,')}"a":1}`)),
    post(
      '65,000 duplicate keys',
      field('Data', () => `{${'"a":1,'.repeat(65_000)}"a":1}`),
    ),
    post(
      'array of []',
      field('List', () => `[${many('[],', 3_600_000)}[]]`),
    ),
    post(
      'array of {}',
      field('List', () => `[${many('{},', 3_600_000)}{}]`),
    ),
    post(
      'too many []',
      field('List', () => `[${many('[],')}[]]`),
    ),
    post(
      '5,000,000 numbers',
      field('List', () => `[${numbers(5_000_000)}]`),
    ),
    post(
      '2,000,000 numbers',
      field('List', () => `[${numbers(2_000_000)}]`),
    ),
    post(
      '390,000 numbers in an Object',
      field('Data', () => `{"a":[${numbers(390_000)}]}`),
    ),
    post('whitespace only', () => Buffer.from(many(' '))),
    post('whitespace, then {}', () => Buffer.from(`${many(' \n\t\r')}{}`)),
    post(
      'malformed at the last byte',
      field('List', () => `[${objects(500_000, (at) => `"text number ${at} of many"`)}]`.slice(0, -1)),
    ),
    post('long string, malformed at the last byte', () => Buffer.from(`{"Text":"${many('a')}"`)),
    post('a long key', () => Buffer.from(`{"${many('k')}":1}`)),
    post(
      'a long key in an Object',
      field('Data', () => `{"${many('k')}":1}`),
    ),
    post(
      '__proto__ keys',
      field('Data', () => `{${'"__proto__":{"a":1},'.repeat(40_000)}"b":1}`),
    ),
    post(
      'texts in an Array',
      field('List', () => `[${objects(300_000, (at) => `"text number ${at} of many, and some more of it here"`)}]`),
    ),
    post(
      'texts in an Object',
      field('Data', () => `{"a":[${objects(300_000, (at) => `"text number ${at} of many, and some more of it"`)}]}`),
    ),
    post(
      'records in an Array',
      field(
        'List',
        () =>
          `[${objects(150_000, (at) => `{"name":"name ${at}","amount":${at},"isDone":true,"note":"some text of the record ${at}, and more of that"}`)}]`,
      ),
    ),
    post(
      'Object with deep JSON',
      field('Data', () => `{"a":[${objects(40_000, (at) => `{"b":{"c":{"d":{"e":"${'x'.repeat(400)}${at}"}}}}`)}]}`),
    ),
    post(
      'Pointers in an Array',
      field('List', () => `[${objects(250_000, (at) => `{"__type":"Pointer","className":"Accounts","objectId":"id${at}"}`)}]`),
    ),
    post(
      'Dates in an Array',
      field('List', () => `[${objects(250_000, () => '{"__type":"Date","iso":"2026-11-29T10:00:00.000Z"}')}]`),
    ),
    post(
      'ACL of 49,000 ids',
      field('ACL', () => `{${objects(49_000, (at) => `"user${at}":{"read":true}`)}}`),
    ),
    post(
      'GeoPoint in 250,000 members',
      field('List', () => `[${objects(250_000, (at) => `{"__type":"GeoPoint","latitude":1.5,"longitude":${at % 90}}`)}]`),
    ),
    post(
      'AddUnique of 390,000',
      field('List', () => `{"__op":"AddUnique","objects":[${objects(390_000, (at) => `${at}`)}]}`),
    ),
    post(
      'AddUnique of 390,000 to 390,000',
      field('List', () => `{"__op":"AddUnique","objects":[${objects(390_000, (at) => `${at + 200_000}`)}]}`),
      {
        method: 'PUT',
        path: `${path}/${listed}`,
      },
    ),
    post(
      'Remove of 390,000 from 390,000',
      field('List', () => `{"__op":"Remove","objects":[${objects(390_000, (at) => `"t${at + 200_000}"`)}]}`),
      {
        method: 'PUT',
        path: `${path}/${listed}`,
      },
    ),
    post(
      'batch of 1,000 items of 20 KB',
      batch(() => Array.from({ length: 1_000 }, () => item(`{"Text":"${'a'.repeat(20_000)}"}`)).join(',')),
      { path: '/platform/batch' },
    ),
    post(
      'batch of 1,000 items of 2,300 numbers',
      batch(() =>
        Array.from({ length: 1_000 }, () => item(`{"Data":{"a":[${numbers(2_300)}]}}`))
          .join(',')
          .slice(0, MAX - 10_000),
      ),
      { path: '/platform/batch' },
    ),
    post(
      'batch of 1 item of 20 MB',
      batch(() => item(`{"Text":"${many('a')}"}`)),
      { path: '/platform/batch' },
    ),
    post(
      'batch of 20 items of 1 MB',
      batch(() => Array.from({ length: 20 }, () => item(`{"Text":"${'a'.repeat(1_000_000)}"}`)).join(',')),
      { path: '/platform/batch' },
    ),
    post(
      'update with a string of 20 MB',
      field('Text', () => `"${many('b')}"`),
      { method: 'PUT', path: `${path}/${plain}` },
    ),
    post('where with 390,000 values, refused', () =>
      Buffer.from(`{"_method":"GET","where":{"Text":{"$in":[${objects(390_000, (at) => `"t${at}"`)}]}}}`),
    ),
    post('where with 9,000 values', () =>
      Buffer.from(`{"_method":"GET","where":{"Text":{"$in":[${objects(9_000, (at) => `"t${at}"`)}]}}}`),
    ),
    post('where as a text of 20 MB', () => Buffer.from(`{"_method":"GET","where":"${many('\\"')}"}`)),
    post('where with a string of 20 MB', () => Buffer.from(`{"_method":"GET","where":{"Text":"${many('a')}"}}`)),
    post(
      'text/plain',
      field('Text', () => `"${many('a')}"`),
      { type: 'text/plain' },
    ),
    post(
      'chunked',
      field('Text', () => `"${many('a')}"`),
      { isChunked: true },
    ),
    post('Content-Encoding: gzip, incompressible', () => gzipSync(randomBytes(MAX - 10_000), { level: 1 }), { encoding: 'gzip' }),
    post('Content-Encoding: gzip, 20 MB inflated', () => gzipSync(`{"Text":"${many('a')}"}`), { encoding: 'gzip' }),
    post('schema of 20 MB', () => Buffer.from(`{"fields":{${objects(60_000, (at) => `"F${at}":{"type":"String"}`)}}}`), {
      path: '/platform/schemas/Other',
    }),
    post(
      'upsert of 20 MB',
      () =>
        Buffer.from(
          `{"matchOn":["Key"],"records":[${objects(1_000, (at) => `{"Key":"k${at}","Text":"${'a'.repeat(19_000)}"}`)}]}`,
        ),
      { path: `/platform/upsert/${keyed}` },
    ),
  ];
}

/** Bodies of functions, forms and agent tools. */
function otherBodies({ appId, table }: BodyTargets): LargeBody[] {
  const form = 'application/x-www-form-urlencoded';
  const call = (name: string, args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
  const mcp = (name: string, make: () => string): LargeBody => ({
    name: `tool: ${name}`,
    method: 'POST',
    path: `/mcp/${appId}`,
    answer: answers[`tool: ${name}`] ?? '200',
    make: bytesOf(make),
  });
  const fn = (name: string, make: () => string, more: Partial<LargeBody> = {}): LargeBody => ({
    name: `form: ${name}`,
    method: 'POST',
    path: `/functions/${appId}/getlead`,
    answer: answers[`form: ${name}`] ?? '200',
    make: bytesOf(make),
    ...more,
  });
  return [
    fn('string', () => `{"FirstName":"a","PhoneNumber":"0521234567","Text":"${many('a')}"}`),
    fn('\\u0041', () => `{"FirstName":"a","PhoneNumber":"0521234567","Text":"${many('\\u0041')}"}`),
    fn('numbers', () => `{"FirstName":"a","PhoneNumber":"0521234567","List":[${numbers(190_000)}]}`),
    fn('too many numbers', () => `{"FirstName":"a","List":[${numbers(5_000_000)}]}`),
    fn('180,000 keys', () => `{${Array.from({ length: 180_000 }, (_, at) => `"k${at}":1`).join(',')}}`),
    fn('web2table', () => `{"table":"${table}","phone":"0521234567","table_Text":"${many('a')}"}`, {
      path: `/functions/${appId}/web2table`,
    }),
    fn('urlencoded, 1,000,000 names', () => Array.from({ length: 1_000_000 }, (_, at) => `n${at}=${at}`).join('&'), {
      type: form,
    }),
    fn('urlencoded, a value of 20 MB', () => `FirstName=a&PhoneNumber=0521234567&Text=${many('%41')}`, { type: form }),
    fn('urlencoded, invalid escapes', () => `FirstName=a&PhoneNumber=0521234567&Text=${many('%')}`, { type: form }),
    fn('urlencoded, one name 4,000,000 times', () => many('a[]=&'), { type: form }),
    mcp('string', () => call('Create-Many', `{"table":"${table}","data":[{"Text":"${many('a')}"}]}`)),
    mcp('\\u0041', () => call('Create-Many', `{"table":"${table}","data":[{"Text":"${many('\\u0041')}"}]}`)),
    mcp('numbers', () => call('Create-Many', `{"table":"${table}","data":[{"List":[${numbers(900_000)}]}]}`)),
    mcp('too many numbers', () => call('Create-Many', `{"table":"${table}","data":[{"List":[${numbers(9_000_000)}]}]}`)),
    mcp('nested', () => many('[')),
    mcp('keys', () =>
      call(
        'Create-Many',
        `{"table":"${table}","data":[{"Data":{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join(',')}}}]}`,
      ),
    ),
    mcp('texts', () =>
      call(
        'Create-Many',
        `{"table":"${table}","data":[{"List":[${Array.from({ length: 300_000 }, (_, at) => `"text number ${at} of many, and some more of it"`).join(',')}]}]}`,
      ),
    ),
  ];
}

/** Reads of what large bodies have stored. */
function largeAnswers({ table, large, listed }: BodyTargets): LargeBody[] {
  const path = `/platform/classes/${table}`;
  const read = (name: string, at: string): LargeBody => ({
    name: `read: ${name}`,
    method: 'GET',
    path: at,
    answer: '200',
    make: () => Buffer.alloc(0),
  });
  const where = (text: string) => `${path}?where=${encodeURIComponent(text)}`;
  return [
    read('a record of 20 MB', `${path}/${large}`),
    read('a list of one such record', where(JSON.stringify({ objectId: large }))),
    read('an Array of 390,000', `${path}/${listed}`),
  ];
}

export const largeBodies = (targets: BodyTargets): LargeBody[] => [
  ...largeAnswers(targets),
  ...dataBodies(targets),
  ...otherBodies(targets),
];
