import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { beginsAsObject } from './body.ts';
import { fileOf, mayBeUpload, readJsonUpload } from './json-upload.ts';

const read = (body: unknown, isNamed: boolean) =>
  readJsonUpload({}, typeof body === 'string' ? body : JSON.stringify(body), isNamed);
const decoded = async (body: JsonObject) => buffer(fileOf(body, null).bytes);
const errorKey = (key: string) => (error: unknown) => error instanceof ServiceError && error.key === key;

test('a body names its application and brings its credentials', () => {
  const envelope = read({ base64: 'QQ==', _ContentType: 'text/plain', _ApplicationId: 'app', _MasterKey: 'key' }, false);
  assert.equal(envelope?.appId, 'app');
  assert.equal(envelope?.credentials.masterKey, 'key');
  assert.deepEqual(envelope?.body, { base64: 'QQ==', _ContentType: 'text/plain' });
});
for (const body of ['{', '[1]', '"x"', '{"base64":"QQ=="} x'])
  test(`what is no object and names no application: ${body}`, () =>
    assert.throws(() => read(body, false), errorKey('unauthorized')));

for (const [body, isUpload] of [
  [{ base64: 'QQ==' }, true],
  [{ base64: 'QQ==', fileData: {}, _ClientVersion: 'js' }, true],
  [{ _method: 'DELETE', _MasterKey: 'key' }, true],
  [{ base64: 'QQ==', other: 1 }, false],
  [{ base64: 5 }, false],
  [{ a: 'base64' }, false],
  ['{"base64":', false],
  [[{ base64: 'QQ==' }], false],
  [{ _method: 'DELETE', other: 1 }, false],
] as const)
  test(`where a header names the application: ${JSON.stringify(body)} is ${isUpload ? 'an upload' : 'a file'}`, () => {
    assert.equal(read(body, true) !== null, isUpload);
  });

test('whether a body may be an upload shows at its beginning', () => {
  assert.equal(mayBeUpload(Buffer.from('{"base64":"QQ')), true);
  assert.equal(mayBeUpload(Buffer.from('{"_method":"DEL')), true);
  assert.equal(mayBeUpload(Buffer.from('{"name":"base64"')), false);
});

for (const base64 of [
  ...['YT8+', 'YT8-', ' YT8+\n', 'Y\r\nT 8\t+', 'data:text/plain;base64,YT8+', 'DATA:;base64,YT8-'],
  ...['data:text/plain;charset=utf-8;base64,\nYT8+'],
])
  test(`base64 as clients write it: ${JSON.stringify(base64)}`, async () =>
    assert.equal((await decoded({ base64 })).toString(), 'a?>'));
for (const base64 of ['QQ==', 'QQ', 'Q Q = =', 'data:;base64,QQ'])
  test(`base64 with and without padding: ${base64}`, async () => assert.equal((await decoded({ base64 })).toString(), 'A'));
test('base64 that is long and none costs little', () => {
  const started = performance.now();
  for (const long of ['A', ' ', '=', 'data:'])
    assert.throws(() => fileOf({ base64: `${long.repeat(8_000_000 / long.length)}!` }, null), errorKey('badUpload'));
  assert.ok(performance.now() - started < 2_000);
});

test('base64 becomes bytes', async () => {
  const { bytes, statedType } = fileOf({ base64: 'aGVsbG8=', _ContentType: 'text/plain' }, null);
  assert.deepEqual([(await buffer(bytes)).toString(), statedType], ['hello', 'text/plain']);
});
for (const base64 of [
  'abcde',
  'ab!d',
  'a b=',
  'QQ=',
  'QQ==QQ==',
  '====',
  '=',
  'QQ=A',
  'QQ===',
  'é',
  'data:text/plain,QQ==',
  5,
  ['QQ=='],
])
  test(`base64 that is none: ${JSON.stringify(base64)}`, () =>
    assert.throws(() => fileOf({ base64 } as never, null), errorKey('badUpload')));
for (const body of [{}, { base64: '' }, { base64: null }, { base64: ' \n' }, { base64: 'data:image/png;base64,' }])
  test(`no file: ${JSON.stringify(body)}`, () => assert.throws(() => fileOf(body, null), errorKey('emptyFile')));

for (const [text, may] of [
  ['{', true],
  [' \r\n\t{"a":1}', true],
  ['\ufeff{', true],
  ['[', false],
  ['a{', false],
  ['', false],
  ['   ', false],
] as const)
  test(`whether a body is an object: ${JSON.stringify(text)}`, () => assert.equal(beginsAsObject(Buffer.from(text)), may));
