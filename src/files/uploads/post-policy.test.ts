import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFileName } from '../stores/name.ts';
import { FormSigner } from './post-policy.ts';

const signer = new FormSigner('salt');
const { id, name } = newFileName('סרט.mp4');
const policy = { contentType: 'video/mp4', size: 1_000, seconds: 900 };
const { url, fields } = signer.sign('app', name, policy, 'https://example.com/form');
const form = (changes: Record<string, string | undefined> = {}) =>
  new Map(Object.entries({ ...fields, ...changes }).filter((pair): pair is [string, string] => pair[1] !== undefined));

test('a form allows what was signed', () => {
  assert.equal(url, 'https://example.com/form');
  assert.deepEqual(signer.verify('app', form()), { id, name, contentType: 'video/mp4', size: 1_000 });
});

test('the case of the names of fields does not count', () => {
  const shouted = new Map([...form()].map(([name, value]) => [name.toUpperCase(), value]));
  assert.equal(signer.verify('app', shouted).id, id);
});

const signed = JSON.parse(Buffer.from(fields.policy ?? '', 'base64').toString()) as object;
const policyOf = (changes: object) => Buffer.from(JSON.stringify({ ...signed, ...changes })).toString('base64');

for (const [what, changes] of [
  ['a larger size', { policy: policyOf({ size: 1e9 }) }],
  ['more time', { policy: policyOf({ expires: Date.now() * 2 }) }],
  ['no policy', { policy: undefined }],
  ['no JSON', { policy: 'x' }],
  ['no signature', { 'x-signature': undefined }],
  ['a short signature', { 'x-signature': fields['x-signature']?.slice(1) }],
  ['a signature beyond ASCII', { 'x-signature': 'é'.repeat(64) }],
  ['another signature', { 'x-signature': '0'.repeat(64) }],
  ['another name', { key: newFileName('x').name }],
  ['no name', { key: undefined }],
] as const)
  test(`a form with ${what} is refused`, () => {
    assert.throws(() => signer.verify('app', form(changes)), { key: 'uploadRefused' });
  });

test('a form holds for its system, its installation and its type', () => {
  assert.throws(() => signer.verify('other', form()), { key: 'uploadRefused' });
  assert.throws(() => new FormSigner('pepper').verify('app', form()), { key: 'uploadRefused' });
  assert.throws(() => signer.verify('app', form({ 'Content-Type': 'text/html' })), { key: 'invalidFileType' });
});

test('a form is over after its time', () => {
  const over = signer.sign('app', name, { ...policy, seconds: -1 }, url);
  assert.throws(() => signer.verify('app', new Map(Object.entries(over.fields))), { key: 'uploadRefused', message: /over/ });
});
