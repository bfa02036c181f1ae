/** Headers of served files: cached for one day, types, nosniff, attachments, sandboxes. Reference: files.md#serving. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, assertServed, credentials, fileObject } from '../support/files.ts';
import { assertNotKept } from './gate.ts';
import { type SampleName, samples } from './samples.ts';
import { bothStores, onEachStore } from './stores.ts';

/** Bytes, file name, disposition, and whether a sandbox policy applies. */
const shown: readonly [SampleName, string, 'inline' | 'attachment', boolean][] = [
  ['png', 'a.png', 'inline', false],
  ['jpeg', 'a.jpg', 'inline', false],
  ['mp3', 'a.mp3', 'inline', false],
  ['mp4', 'a.mp4', 'inline', false],
  ['pdf', 'a.pdf', 'inline', false],
  ['text', 'a.txt', 'inline', true],
  ['html', 'a.txt', 'inline', true],
  ['svg', 'a.svg', 'attachment', true],
  ['html', 'a.html', 'attachment', true],
  ['html', 'page', 'attachment', true],
  ['xml', 'a.xml', 'attachment', true],
  ['csv', 'a.csv', 'attachment', true],
  ['json', 'a.json', 'attachment', false],
  ['zip', 'a.zip', 'attachment', false],
  ['docx', 'a.docx', 'attachment', false],
  ['eml', 'a.eml', 'attachment', false],
];

onEachStore((files) => {
  const { service } = files;
  const master = () => credentials(service(), { as: 'master' });
  /** Returns all addresses of a file: of the upload, the public and the private one. */
  const addressesOf = async (name: string, bytes: Buffer, type = 'application/octet-stream') => {
    const file = await files.upload(name, bytes, { type });
    const table = await files.table({ A: 'File', B: 'PrivateFile' });
    const id = await files.create(table, { A: fileObject(file) });
    await assertServed(file.url, bytes);
    const other = await files.upload(name, bytes, { type });
    await files.update(table, id, { B: fileObject(other) });
    const { A, B } = await files.read(table, id);
    return { upload: file.url, public: A.url as string, private: B.url as string };
  };

  for (const [sample, name, disposition, isConfined] of shown)
    test(`${sample} as ${name}: nosniff, ${disposition}${isConfined ? ', sandboxed' : ''}`, async () => {
      const bytes = samples[sample];
      const urls = await addressesOf(name, bytes, sample === 'html' && name === 'page' ? 'text/html' : 'image/png');
      for (const url of Object.values(urls)) {
        const { headers } = await assertServed(url, bytes, master());
        assert.equal(headers['x-content-type-options'], 'nosniff');
        const header = headers['content-disposition'] ?? 'inline';
        // A page without a known extension is plain text, which may be shown inline.
        const isPlain = /^text\/plain\b/.test(headers['content-type'] ?? '');
        assert.equal(header.split(';')[0], name === 'page' && isPlain ? 'inline' : disposition, header);
        if (isConfined) assert.match(String(headers['content-security-policy']), /(^|;)\s*sandbox\s*(;|$)/);
        assert.equal(headers['content-length'], String(bytes.length));
        assert.ok(headers['x-request-id']);
      }
    });

  test('the public address is cached one day; the others are not kept for others', async () => {
    const urls = await addressesOf('a.png', samples.png);
    const read = async (url: string) => assertServed(url, samples.png, master());
    const control = (await read(urls.public)).headers['cache-control'] ?? '';
    assert.match(control, /max-age=86400\b/);
    assert.match(control, /\bpublic\b/);
    assertNotKept(await read(urls.private));
    assert.doesNotMatch((await read(urls.upload)).headers['cache-control'] ?? '', /\bpublic\b/);
    const missing = await ask(`${urls.public}x`);
    assert.equal(missing.status, 404);
    assert.doesNotMatch(missing.headers['cache-control'] ?? '', /max-age=[1-9]/);
  });

  for (const [name, ascii, full] of [
    ['report.pdf', 'report.pdf', undefined],
    ['with space.pdf', 'with space.pdf', undefined],
    ['דוח 2024.pdf', undefined, 'דוח 2024.pdf'],
    ['😀.pdf', '_.pdf', '😀.pdf'],
    [`it's "quoted".pdf`, undefined, undefined],
    ['a;b=c.pdf', undefined, undefined],
    ['a\r\nSet-Cookie: x=1.pdf', undefined, undefined],
    ['100%25.pdf', undefined, undefined],
  ] as const)
    test(`the file's own name is what it is saved as: ${JSON.stringify(name)}`, async () => {
      const { url } = await files.upload(name, samples.pdf);
      const { headers } = await assertServed(url, samples.pdf);
      const header = headers['content-disposition'] ?? '';
      assert.match(header, /^inline; filename/);
      assert.equal(headers['set-cookie'], undefined);
      if (ascii !== undefined) assert.match(header, new RegExp(`filename="?${ascii}"?`));
      const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
      if (full !== undefined) assert.equal(decodeURIComponent(encoded ?? ''), full);
    });

  test('Conventions: HEAD answers as GET, without the bytes', async () => {
    const urls = await addressesOf('a.png', samples.png);
    for (const url of Object.values(urls)) {
      const [got, told] = [await ask(url, { headers: master() }), await ask(url, { method: 'HEAD', headers: master() })];
      assert.deepEqual([told.status, told.bytes.length], [200, 0]);
      const names = [
        'content-type',
        'content-length',
        'etag',
        'last-modified',
        'cache-control',
        'content-disposition',
        'accept-ranges',
      ];
      for (const name of names) assert.deepEqual(told.headers[name], got.headers[name], name);
    }
    assert.equal((await ask(`${urls.public}x`, { method: 'HEAD' })).status, 404);
  });

  for (const method of ['PUT', 'DELETE', 'PATCH'])
    test(`Files: ${method} on the addresses of files changes nothing`, async () => {
      const urls = await addressesOf('a.png', samples.png);
      for (const url of Object.values(urls)) {
        const { status } = await ask(url, { method, headers: master(), body: 'x' });
        assert.ok(status >= 400 && status < 500, `${method} ${url}: ${status}`);
        await assertServed(url, samples.png, master());
      }
    });
}, bothStores);
