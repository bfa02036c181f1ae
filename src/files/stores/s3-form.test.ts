import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { UploadForm } from './port.ts';
import { S3Store } from './s3.ts';
import { newId } from './testing/cases.ts';
import { locationOf, storeOnS3 } from './testing/s3.ts';

const on = storeOnS3();

interface Sent {
  readonly fields?: Readonly<Record<string, string>>;
  readonly without?: string;
  readonly bytes?: number;
  readonly isFileFirst?: boolean;
}

const taken: readonly (readonly [string, Sent])[] = [
  ['as many bytes as announced', { bytes: 10 }],
  ['fewer bytes', { bytes: 1 }],
  ['a field that S3 passes over', { fields: { 'x-ignore-this': '1' } }],
];

const refused: readonly (readonly [string, Sent, number, string])[] = [
  ['one byte more', { bytes: 11 }, 400, 'EntityTooLarge'],
  ['no bytes', { bytes: 0 }, 400, 'EntityTooSmall'],
  ['another type', { fields: { 'Content-Type': 'text/html' } }, 403, 'AccessDenied'],
  ['no type', { without: 'Content-Type' }, 403, 'AccessDenied'],
  ['another key', { fields: { key: `some/prefix/app/${'0'.repeat(32)}` } }, 403, 'AccessDenied'],
  ['a further field', { fields: { acl: 'public-read' } }, 403, 'AccessDenied'],
  ['another policy', { fields: { Policy: Buffer.from('{"conditions":[]}').toString('base64') } }, 403, 'SignatureDoesNotMatch'],
  ['another signature', { fields: { 'X-Amz-Signature': '0'.repeat(64) } }, 403, 'SignatureDoesNotMatch'],
  ['no policy', { without: 'Policy' }, 403, 'AccessDenied'],
  ['the file before the fields', { isFileFirst: true }, 400, 'InvalidArgument'],
];

for (const [name, sent] of taken)
  test(`a form is taken: ${name}`, async () => {
    const id = newId();
    const answer = await send(await formFor(id), sent);
    assert.equal(answer.status, 204);
    const bytes = sent.bytes ?? 5;
    assert.equal((await on.store.stat('app', id))?.size, bytes);
    const stream = await on.store.open('app', id);
    assert.equal(stream && String(await buffer(stream)), 'x'.repeat(bytes));
  });

for (const [name, sent, status, code] of refused)
  test(`a form is refused: ${name}`, async () => {
    const id = newId();
    const answer = await send(await formFor(id), sent);
    assert.equal(answer.status, status);
    assert.match(await answer.text(), new RegExp(`<Code>${code}</Code>`));
    assert.equal(await on.store.stat('app', id), null);
  });

test('a form is refused: too late', async () => {
  const answer = await send(await formFor(newId(), 0), {});
  assert.equal(answer.status, 403);
});

test('a form is for the bucket and for one key, and does not tell the secret', async () => {
  const id = newId();
  const form = await formFor(id);
  assert.match(form.url, /^http:\/\/127\.0\.0\.1:\d+\/files\/?$/);
  assert.equal(form.fields.key, `some/prefix/app/${id}`);
  assert.ok(!JSON.stringify(form).includes(on.server.env.AWS_SECRET_ACCESS_KEY ?? ''));
});

test('forms=false: the store has none', async () => {
  const without = await S3Store.open(locationOf(on.server.filesUrl('x', '&forms=false')), on.incoming, assert.fail);
  assert.equal(without.form, undefined);
  await without.close();
});

async function formFor(id: string, seconds = 900): Promise<UploadForm> {
  const form = await on.store.form?.('app', id, { contentType: 'image/png', size: 10, seconds });
  assert.ok(form);
  return form;
}

function send(
  { url, fields }: UploadForm,
  { fields: others = {}, without, bytes = 5, isFileFirst = false }: Sent,
): Promise<Response> {
  const body = new FormData();
  const file = new Blob(['x'.repeat(bytes)]);
  if (isFileFirst) body.set('file', file, 'picture.png');
  for (const [name, value] of Object.entries({ ...fields, ...others })) if (name !== without) body.set(name, value);
  if (!isFileFirst) body.set('file', file, 'picture.png');
  return fetch(url, { method: 'POST', body });
}
