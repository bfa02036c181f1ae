/** The type of a file follows from its bytes and extension, not from Content-Type. Reference: files.md#file-types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertServed, upload } from '../support/files.ts';
import { onDisk, usage } from './operator.ts';
import { type SampleName, samples } from './samples.ts';
import { bothStores, onEachStore } from './stores.ts';

/** Bytes, file name, and the type that they are served as. */
const accepted: readonly [SampleName, string, RegExp][] = [
  ['png', 'a.png', /^image\/png$/],
  ['png', 'A.PNG', /^image\/png$/],
  ['png', 'noextension', /^image\/png$/],
  ['png', 'a.unknownext', /^image\/png$/],
  ['png', 'שלום.png', /^image\/png$/],
  ['jpeg', 'a.jpg', /^image\/jpeg$/],
  ['jpeg', 'a.jpeg', /^image\/jpeg$/],
  ['gif', 'a.gif', /^image\/gif$/],
  ['webp', 'a.webp', /^image\/webp$/],
  ['bmp', 'a.bmp', /^image\/(x-ms-)?bmp$/],
  ['tiff', 'a.tif', /^image\/tiff$/],
  ['ico', 'favicon.ico', /^image\/(x-icon|vnd\.microsoft\.icon)$/],
  ['pdf', 'a.pdf', /^application\/pdf$/],
  ['zip', 'a.zip', /^application\/zip$/],
  ['docx', 'a.docx', /wordprocessingml/],
  ['xlsx', 'a.xlsx', /spreadsheetml/],
  ['pptx', 'a.pptx', /presentationml/],
  ['odt', 'a.odt', /opendocument\.text/],
  ['doc', 'a.doc', /^application\/(msword|x-cfb)$/],
  ['doc', 'a.xls', /^application\/(vnd\.ms-excel|x-cfb)$/],
  ['doc', 'mail.msg', /^application\//],
  ['gzip', 'a.gz', /^application\/(x-)?gzip$/],
  ['gzip', 'a.tar.gz', /^application\/(x-)?gzip$/],
  ['sevenZip', 'a.7z', /^application\/x-7z-compressed$/],
  ['rar', 'a.rar', /^application\//],
  ['tar', 'a.tar', /^application\/x-tar$/],
  ['mp3', 'a.mp3', /^audio\/mpeg$/],
  ['wav', 'a.wav', /^audio\/(x-|vnd\.)?wave?$/],
  ['ogg', 'a.ogg', /^audio\/ogg/],
  ['mp4', 'a.mp4', /^video\/mp4$/],
  ['webm', 'a.webm', /^video\/webm$/],
  ['woff2', 'a.woff2', /^font\/woff2$/],
  ['rtf', 'a.rtf', /^(application|text)\/rtf$/],
  ['text', 'a.txt', /^text\/plain\b/],
  ['text', 'noextension', /^text\/plain\b/],
  ['text', 'a.log', /^text\/plain\b/],
  ['text', 'a.md', /^text\//],
  // Scripts and stylesheets are plain text, so that no page runs or applies them.
  ['text', 'a.js', /^text\/plain\b/],
  ['text', 'a.css', /^text\/plain\b/],
  ['xml', 'a.xsl', /^text\/plain\b/],
  ['utf8Mark', 'a.csv', /^text\/csv\b/],
  ['utf16', 'a.txt', /^text\/plain\b/],
  ['utf16be', 'a.txt', /^text\/plain\b/],
  ['windows1255', 'a.csv', /^text\/csv\b/],
  ['windows1255', 'a.txt', /^text\/plain\b/],
  ['latin1', 'a.txt', /^text\/plain\b/],
  ['longHebrew', 'a.txt', /^text\/plain\b/],
  ['csv', 'a.csv', /^text\/csv\b/],
  ['json', 'a.json', /^application\/json\b/],
  ['xml', 'a.xml', /^(application|text)\/xml\b/],
  ['svg', 'a.svg', /^image\/svg\+xml\b/],
  ['svgWithProlog', 'a.svg', /^image\/svg\+xml\b/],
  ['html', 'a.html', /^text\/html\b/],
  ['html', 'a.htm', /^text\/html\b/],
  ['html', 'a.txt', /^text\/plain\b/],
  ['ics', 'a.ics', /^text\/calendar\b/],
  ['vcf', 'a.vcf', /^text\/(x-)?vcard\b/],
  ['eml', 'a.eml', /^message\/rfc822\b/],
];

/** Bytes and file name: a mismatch, or an unsupported type. */
const refused: readonly [SampleName, string][] = [
  ['png', 'a.jpg'],
  ['png', 'a.txt'],
  ['png', 'a.pdf'],
  ['png', 'a.html'],
  ['png', 'a.exe'],
  ['pdf', 'a.png'],
  ['pdf', 'a.txt'],
  ['zip', 'a.png'],
  ['zip', 'a.pdf'],
  ['gzip', 'a.txt'],
  ['mp4', 'a.mp3'],
  ['text', 'a.png'],
  ['text', 'A.PNG'],
  ['text', 'a.pdf'],
  ['text', 'a.zip'],
  ['text', 'a.docx'],
  ['text', 'a.mp4'],
  ['text', 'a.exe'],
  ['html', 'a.png'],
  ['html', 'a.jpg'],
  ['html', 'a.pdf'],
  ['svg', 'a.png'],
  ['elf', 'noextension'],
  ['elf', 'a.unknownext'],
  ['elf', 'a.png'],
  ['elf', 'a.txt'],
  ['exe', 'a.exe'],
  ['exe', 'a.dll'],
  ['exe', 'noextension'],
  ['exe', 'a.pdf'],
  ['machO', 'noextension'],
  ['javaClass', 'A.class'],
  ['javaClass', 'noextension'],
  ['wasm', 'a.wasm'],
  ['wasm', 'noextension'],
  ['shellScript', 'a.sh'],
  ['shellScript', 'a.txt'],
  ['shellScript', 'noextension'],
  ['markedScript', 'a.py'],
  ['markedScript', 'a.txt'],
  ['binary', 'noextension'],
  ['binary', 'a.bin'],
  ['binary', 'a.txt'],
  ['binary', 'a.png'],
  ['binary', 'a.unknownext'],
  ['zeros', 'noextension'],
  ['zeros', 'a.txt'],
];

/** Content types that a client may send with any file. */
const declared = ['image/png', 'text/html', 'application/octet-stream', 'text/plain', 'application/x-msdownload'];

onEachStore((files) => {
  const { service } = files;

  for (const [sample, name, type] of accepted)
    test(`${sample} as ${name} passes, whatever its Content-Type`, async () => {
      for (const contentType of declared) {
        const { status, body, text } = await upload(service(), name, samples[sample], { type: contentType });
        assert.equal(status, 201, `${contentType}: ${text}`);
        const { headers } = await assertServed(body.url, samples[sample]);
        // The client's type counts only for text without a known extension.
        const isOpen = sample === 'text' && name === 'noextension';
        if (!isOpen || contentType === 'text/plain') assert.match(headers['content-type'] ?? '', type, contentType);
      }
    });

  test('a mismatch or unsupported type: 403 `Invalid file type`, and nothing is left', async (t) => {
    const [used, stored] = [await usage(files), await onDisk(service())];
    for (const [sample, name] of refused)
      await t.test(`${sample} as ${name}`, async () => {
        for (const type of [...declared, 'image/jpeg'])
          for (const as of ['anonymous', 'master'] as const) {
            const { status, body, text } = await upload(service(), name, samples[sample], { type, as });
            assert.deepEqual([status, body], [403, { error: 'Invalid file type' }], `${type}: ${text}`);
          }
      });
    assert.deepEqual(await onDisk(service()), stored);
    assert.deepEqual(await usage(files), used);
  });

  test('text without a known extension is what the client says, where that is text', async () => {
    const typeOf = async (type: string, name = 'noextension') => {
      const { url } = await files.upload(name, samples.text, { type });
      return (await assertServed(url, samples.text)).headers['content-type'] ?? '';
    };
    assert.match(await typeOf('text/csv'), /^text\/csv\b/);
    assert.match(await typeOf('text/csv', 'a.unknownext'), /^text\/csv\b/);
    assert.match(await typeOf('image/png'), /^text\/plain\b/);
    assert.match(await typeOf('text/csv', 'a.txt'), /^text\/plain\b/);
  });

  test('one byte of text, and text that is as long as a file may be', async () => {
    await files.upload('a.txt', 'x');
    await files.upload('noextension', '\n');
    const bytes = Buffer.alloc(33_554_432, 'שלום ');
    const { url } = await files.upload('a.txt', bytes);
    await assertServed(url, bytes);
  });
}, bothStores);
