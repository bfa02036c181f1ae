import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelopeOf, fieldsOf, parseEnvelope } from './parse-request.ts';

const open = (body: unknown, headers = {}) => parseEnvelope(headers, body === undefined ? undefined : JSON.stringify(body));

test('credentials of a body are taken out of it', () => {
  const envelope = open({
    _ApplicationId: 'a',
    _MasterKey: 'm',
    _apiKey: 'k',
    _SessionToken: 's',
    _method: 'GET',
    _context: {},
    n: 1,
  });
  assert.deepEqual(envelope, {
    appId: 'a',
    credentials: { masterKey: 'm', apiKey: 'k', sessionToken: 's' },
    installationId: null,
    method: 'GET',
    body: { n: 1 },
  });
});
test('a header wins over the body, an empty one does not', () => {
  const headers = { 'x-platform-application-id': 'header', 'x-platform-master-key': '' };
  const envelope = open({ _ApplicationId: 'body', _MasterKey: 'body' }, headers);
  assert.deepEqual([envelope.appId, envelope.credentials.masterKey], ['header', 'body']);
});
test('a credential in a header leaves those of the body aside, whichever they are', () => {
  const { credentials } = open({ _MasterKey: 'body', _SessionToken: 'body' }, { 'x-platform-api-key': 'header' });
  assert.deepEqual(credentials, { masterKey: undefined, apiKey: 'header', sessionToken: undefined });
});
test('values that are no strings are handed on for the systems to refuse', () => {
  assert.deepEqual(open({ _MasterKey: { $ne: '' } }).credentials.masterKey, { $ne: '' });
});
test('other keys that begin with an underscore stay', () => {
  assert.deepEqual(open({ _failed_login_count: 1, _MasterKey: 'm' }).body, { _failed_login_count: 1 });
});
test('a body is not copied, however many keys it has', () => {
  const sent = { _method: 'PUT', n: 1 };
  assert.equal(envelopeOf({}, sent).body, sent);
  assert.deepEqual(sent, { n: 1 });
});
test('a key named __proto__ stays a key, for the fields to refuse', () => {
  const { body } = parseEnvelope({}, '{"__proto__":{"n":1},"_MasterKey":"m"}');
  assert.ok(Object.hasOwn(body as object, '__proto__'));
  assert.equal(Object.getPrototypeOf(body), Object.prototype);
});
test('inherited names are no credentials', () => {
  assert.equal(parseEnvelope({}, '{"__proto__":{"_MasterKey":"m"},"_context":1}').credentials.masterKey, undefined);
});
for (const [text, body] of [
  [undefined, undefined],
  ['', undefined],
  ['[]', []],
  ['null', null],
] as const)
  test(`body ${text}`, () => assert.deepEqual(parseEnvelope({}, text).body, body));
for (const text of ['{', 'a=1', ' '])
  test(`malformed: ${text}`, () => assert.throws(() => parseEnvelope({}, text), { code: 107 }));
for (const body of [null, [], 'x', 5, true])
  test(`no fields: ${JSON.stringify(body)}`, () => assert.throws(() => fieldsOf(body), { code: 107 }));
test('a missing body has no fields', () => assert.deepEqual(fieldsOf(undefined), {}));
