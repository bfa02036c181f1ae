/** Policies for large uploads. Reference: files.md#large-uploads. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertGone, assertServed, assertUnknownFile, fileObject, shownFile, uploadUrl } from '../support/files.ts';
import { assertRefused } from '../support/records.ts';
import { badSession, signUp } from '../support/users.ts';
import { allowLarge, askPolicy, forbidLarge, newPolicy, upload } from './large.ts';
import { usage } from './operator.ts';
import { onEachStore, usual } from './stores.ts';

const wanted = { ContentType: 'text/plain', ContentLength: 100 };
const off = { code: 400, error: 'App is not allowed to upload large files.' };
const missing = { code: 400, error: 'Missing Authorization.' };

onEachStore((files) => {
  const { service } = files;
  /** One byte more than an upload may have. */
  const large = () => 'x'.repeat(33_554_432 + 1);
  after(() => forbidLarge(files));

  test('allowAllFiles is off in a new system: its two errors, the credential first', async () => {
    const { token: session } = await signUp(files);
    const refusal = (answer: Awaited<ReturnType<typeof askPolicy>>, expected: object) =>
      assert.deepEqual([answer.status, answer.body], [400, expected]);
    refusal(await askPolicy(service(), 'a.txt', wanted, { as: 'anonymous' }), missing);
    for (const by of [{ as: 'master' }, { as: 'apiKey' }, { session }] as const)
      refusal(await askPolicy(service(), 'a.txt', wanted, by), off);
    const id = await allowLarge(files, false);
    refusal(await askPolicy(service(), 'a.txt', wanted), off);
    refusal(await askPolicy(service(), 'a.txt', {}), off);
    refusal(await askPolicy(service(), 'a.txt', wanted, { as: 'anonymous' }), missing);
    // If several rows share a `Name`, the one created first is used.
    await allowLarge(files);
    refusal(await askPolicy(service(), 'a.txt', wanted), off);
    await files.remove('Config', id);
    assert.equal((await askPolicy(service(), 'a.txt', wanted)).status, 200);
    refusal(await askPolicy(service(), 'a.txt', wanted, { as: 'anonymous' }), missing);
  });

  test('Files/Large upload policy: session token, API key or master key', async () => {
    const { token: session } = await signUp(files);
    for (const by of [{ as: 'master' }, { as: 'apiKey' }, { session }] as const) {
      const { status, body, text } = await askPolicy(service(), 'a.txt', wanted, by);
      assert.equal(status, 200, text);
      assert.deepEqual(Object.keys(body).sort(), ['fields', 'name', 'url']);
      for (const value of Object.values(body.fields)) assert.equal(typeof value, 'string');
    }
    assertRefused(await askPolicy(service(), 'a.txt', wanted, { session: `r:${'0'.repeat(32)}` }), badSession);
    const unknown = await askPolicy({ ...service(), appId: 'nobody' }, 'a.txt', wanted);
    assert.deepEqual([unknown.status, unknown.body], [403, { error: 'unauthorized' }]);
    const wrong = await askPolicy({ ...service(), apiKey: 'wrong' }, 'a.txt', wanted);
    assert.deepEqual([wrong.status, wrong.body.code], [400, 119]);
  });

  const bad: unknown[] = [
    {},
    { ContentType: 'text/plain' },
    { ContentLength: 5 },
    ...[0, -1, 1.5, '', '0', '5x', '-5', '5.0', null, true, 5 * 1024 ** 3 + 1, 1e300].map((ContentLength) => ({
      ...wanted,
      ContentLength,
    })),
    ...['', 'nonsense', 'text/', '/plain', 'a b/c', 'text/plain\r\nx: y', 5, null, ['text/plain']].map((ContentType) => ({
      ...wanted,
      ContentType,
    })),
    [],
    '{',
    '"text"',
  ];
  test('what is no media type or no length from 1 to 5 GiB is 400 code 107, and nothing is kept', async () => {
    const used = await usage(files);
    for (const body of bad) assertRefused(await askPolicy(service(), 'a.txt', body), { code: 107 });
    for (const ContentLength of [5 * 1024 ** 3, '5'])
      assert.equal((await askPolicy(service(), 'a.txt', { ...wanted, ContentLength })).status, 200);
    assert.deepEqual(await usage(files), used);
  });

  test('names up to 300 characters', async () => {
    assertRefused(await askPolicy(service(), 'x'.repeat(301), wanted), { code: 122, error: 'Invalid file name.' });
    assert.equal((await askPolicy(service(), 'ש'.repeat(300), wanted)).status, 200);
  });

  test(`${files.kind === 's3' ? 'on S3 the form is a presigned POST' : "the form is this service's own"}`, async () => {
    const { url } = await newPolicy(service(), 'a.txt', 100);
    assert.equal(new URL(url).origin === service().url, files.kind === 'disk', url);
  });

  test('policy, form, then attach with the returned name', async () => {
    const before = await usage(files);
    const bytes = large();
    const policy = await newPolicy(service(), 'דוח גדול.txt', bytes.length);
    await assertGone(uploadUrl(service(), policy.name));
    await upload(policy, bytes);
    await assertServed(uploadUrl(service(), policy.name), bytes);
    const place = await files.attached('File', { name: policy.name, url: policy.url });
    const { F } = await files.read(place.table, place.id);
    assert.deepEqual(F, shownFile(service(), policy.name));
    await assertServed(F.url, bytes);
    const after = await usage(files);
    assert.deepEqual([after.files, after.bytes], [before.files + 1, before.bytes + bytes.length]);
  });

  test('attached before it was ever read', async () => {
    const policy = await newPolicy(service(), 'a.txt', 100);
    await upload(policy, 'a text');
    const place = await files.attached('PrivateFile', { name: policy.name, url: policy.url });
    const { F } = await files.read(place.table, place.id);
    await assertServed(F.url, 'a text', { 'X-Platform-Master-Key': service().masterKey });
    await assertGone(uploadUrl(service(), policy.name));
  });

  test('Errors/1: attached before the bytes came: {code: 1}; afterwards it works', async () => {
    const policy = await newPolicy(service(), 'a.txt', 100);
    const table = await files.table({ F: 'File' });
    assertUnknownFile(await files.post(table, { F: fileObject(policy) }));
    assert.deepEqual(await files.all(table), []);
    await upload(policy, 'a text');
    await files.create(table, { F: fileObject(policy) });
  });

  test('the type is what the bytes are, and not checked: allowAllFiles', async () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 601 }, (_, n) => (n * 7 + (n % 3) * 85) % 256));
    const policy = await newPolicy(service(), 'a.dat', bytes.length, 'application/x-own');
    await upload(policy, bytes, 'application/x-own');
    const { headers } = await assertServed(uploadUrl(service(), policy.name), bytes);
    assert.equal(headers['content-type'], 'application/octet-stream');
    assert.match(headers['content-disposition'] ?? '', /^attachment/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const page = '<!doctype html><script>alert(1)</script>';
    const html = await newPolicy(service(), 'a.html', 100, 'image/png');
    await upload(html, page, 'image/png');
    const served = await assertServed(uploadUrl(service(), html.name), page);
    assert.match(String(served.headers['content-security-policy']), /sandbox/);
    assert.doesNotMatch(served.headers['content-type'] ?? '', /image/);
  });

  if (files.kind === 's3')
    test("S3's own form used again makes a file that was attached unreadable, and changes nothing else", async () => {
      const policy = await newPolicy(service(), 'a.txt', 100);
      await upload(policy, 'a text');
      const place = await files.attached('File', policy);
      const { F } = await files.read(place.table, place.id);
      await assertServed(F.url, 'a text');
      const before = await usage(files);
      await upload(policy, 'another text');
      await assertGone(F.url);
      assert.deepEqual((await files.read(place.table, place.id)).F, F);
      assert.deepEqual(await usage(files), before);
    });

  test('deleted like any file, before and after its bytes came', async () => {
    const before = await usage(files);
    const [one, two] = [await newPolicy(service(), 'a.txt', 100), await newPolicy(service(), 'a.txt', 100)];
    const remove = (name: string) => files.call('DELETE', `/platform/files/${encodeURIComponent(name)}`);
    await upload(one, 'text');
    await assertServed(uploadUrl(service(), one.name), 'text');
    for (const { name } of [one, two]) assert.equal((await remove(name)).status, 200);
    for (const { name } of [one, two]) await assertGone(uploadUrl(service(), name));
    const table = await files.table({ F: 'File' });
    for (const policy of [one, two]) assertUnknownFile(await files.post(table, { F: fileObject(policy) }));
    assert.deepEqual(await usage(files), before);
  });
}, usual);
