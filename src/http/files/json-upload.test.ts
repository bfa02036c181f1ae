import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../errors/fail.ts';
import { beginsAsObject } from './body.ts';
import { fileOf, readJsonUpload } from './json-upload.ts';

const read = (body: unknown, isNamed: boolean) =>
  readJsonUpload({}, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), isNamed);
const errorKey = (key: string) => (error: unknown) => error instanceof ServiceError && error.key === key;

test('a body names its application and brings its credentials', () => {
  const envelope = read({ base64: 'QQ==', _ContentType: 'text/plain', _ApplicationId: 'app', _MasterKey: 'key' }, false);
  assert.equal(envelope?.appId, 'app');
  assert.equal(envelope?.credentials.masterKey, 'key');
  assert.deepEqual(envelope?.body, { base64: 'QQ==', _ContentType: 'text/plain' });
});
test('a byte order mark is passed over', () => assert.equal(read('\ufeff{"_ApplicationId":"app"}', false)?.appId, 'app'));
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

test('base64 becomes bytes', () => {
  const { bytes, saidType } = fileOf({ base64: 'aGVsbG8=', _ContentType: 'text/plain' });
  assert.deepEqual([bytes.toString(), saidType], ['hello', 'text/plain']);
});
for (const base64 of ['abc', 'ab!d', 'a b=', 'QQ==QQ==', '====', 'QQ=A', ' QQ==', 'data:text/plain;base64,QQ==', 5, ['QQ==']])
  test(`base64 that is none: ${JSON.stringify(base64)}`, () =>
    assert.throws(() => fileOf({ base64 } as never), errorKey('badUpload')));
for (const body of [{}, { base64: '' }, { base64: null }])
  test(`no file: ${JSON.stringify(body)}`, () => assert.throws(() => fileOf(body), errorKey('emptyFile')));

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
