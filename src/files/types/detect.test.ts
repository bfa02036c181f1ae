import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { describeType, detectType, SAMPLE_BYTES } from './detect.ts';
import { typeOfFinding, typesOfExtension } from './table.ts';

const bytes = (...parts: (string | number | readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'number') return Buffer.alloc(part);
      return typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part);
    }),
  );

/** An archive with one entry, without a central directory, like a truncated sample. */
function zip(entry: string, content: string): Buffer {
  const packed = deflateRawSync(Buffer.from(content));
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(8, 8);
  header.writeUInt32LE(packed.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(entry.length, 26);
  return Buffer.concat([header, Buffer.from(entry), packed]);
}

const officeXml = (main: string) =>
  zip(
    '[Content_Types].xml',
    `<Types><Override PartName="/x" ContentType="application/vnd.openxmlformats-officedocument.${main}+xml"/></Types>`,
  );

const png = bytes([0x89], 'PNG\r\n', [0x1a, 0x0a], [0, 0, 0, 13], 'IHDR', 17, [0, 0, 0, 9], 'IDAT', 16);
const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0x10], 'JFIF', 20);
const gif = bytes('GIF89a', [1, 0, 1, 0, 0, 0, 0]);
const webp = bytes('RIFF', [36, 0, 0, 0], 'WEBPVP8 ', 30);
const tiffWithLateDirectory = bytes('II*', [0, 0, 0, 0x10, 0], 2_000);
const brand = (name: string) => bytes([0, 0, 0, 0x18], `ftyp${name}`, 4, 'mp42isom', 40);
const pdf = bytes('%PDF-1.7\n%', [0xe2, 0xe3, 0xcf, 0xd3], '\n1 0 obj');
const cfb = bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], 600);
const installer = bytes(cfb, Buffer.from('84100c0000000000c000000000000046', 'hex'), 100);
const mp3 = bytes([0xff, 0xfb, 0x90, 0x64], 100);
const mp3WithPicture = bytes('ID3', [4, 0, 0, 0, 0x20, 0, 0], 200);
const ebml = (type: string) => bytes([0x1a, 0x45, 0xdf, 0xa3, 0x80 + type.length + 3, 0x42, 0x82, 0x80 + type.length], type, 60);
const ogg = (codec: string | readonly number[]) => bytes('OggS', 24, codec, 40);
const windowsExecutable = bytes('MZ', [0x90, 0, 3, 0], 60, 'PE', 60);
const hebrew = 'שם,טלפון\r\nדנה,050-1234567\r\n';
/** Encodes a text in windows-1255, the code page for Hebrew. */
const in1255 = (text: string) =>
  Buffer.from([...text].map((c) => (c >= 'א' && c <= 'ת' ? c.charCodeAt(0) - 0x5d0 + 0xe0 : c.charCodeAt(0))));
const hebrew1255 = in1255(hebrew);
const hebrewWord = in1255('שלום');
const utf16 = Buffer.from(`\ufeff${hebrew}`, 'utf16le');
const svg =
  '<?xml version="1.0"?>\n<!-- drawn -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x" [ <!ENTITY a "b>"> ]>\n<svg xmlns="x"/>';

/** File name, bytes, served type, declared type. */
const taken: readonly (readonly [name: string, content: Buffer | string, type: string, said?: string])[] = [
  ['a.png', png, 'image/png'],
  ['a.PNG', png, 'image/png'],
  ['a.png', png.subarray(0, 8), 'image/png'],
  ['a', png, 'image/png', 'text/html'],
  ['a.unheard', png, 'image/png'],
  ['a.jpg', jpeg, 'image/jpeg'],
  ['a.jpeg', jpeg, 'image/jpeg'],
  ['a.jfif', jpeg, 'image/jpeg'],
  ['a.gif', gif, 'image/gif'],
  ['a.gif', 'GIF89a', 'image/gif'],
  ['a.webp', webp, 'image/webp'],
  ['a.tiff', tiffWithLateDirectory, 'image/tiff'],
  ['a.heic', brand('heic'), 'image/heic'],
  ['a.heif', brand('mif1'), 'image/heif'],
  ['a.avif', brand('avif'), 'image/avif'],
  ['a.bmp', bytes('BM', 60), 'image/bmp'],
  ['a.ico', bytes([0, 0, 1, 0, 1, 0], 30), 'image/x-icon'],
  ['a.psd', bytes('8BPS', [0, 1], 30), 'image/vnd.adobe.photoshop'],
  ['a.svg', svg, 'image/svg+xml'],
  ['a.svg', '<svg/>', 'image/svg+xml'],
  ['a.mp4', brand('isom'), 'video/mp4'],
  ['a.mov', brand('qt  '), 'video/quicktime'],
  ['a.mov', brand('mp42'), 'video/quicktime'],
  ['a.m4v', brand('M4V '), 'video/mp4'],
  ['a', brand('M4V '), 'video/mp4'],
  ['a.m4a', brand('M4A '), 'audio/mp4'],
  ['a.m4a', brand('isom'), 'audio/mp4'],
  ['a.3gp', brand('3gp4'), 'video/3gpp'],
  ['a.webm', ebml('webm'), 'video/webm'],
  ['a.mkv', ebml('matroska'), 'video/matroska'],
  ['a', ebml('webm'), 'video/webm'],
  ['a.ogg', ogg([1, 0x76, 0x6f, 0x72, 0x62, 0x69, 0x73]), 'audio/ogg'],
  ['a.opus', ogg('OpusHead'), 'audio/ogg'],
  ['a.ogg', ogg('OpusHead'), 'audio/ogg'],
  ['a.ogv', ogg([0x80, 0x74, 0x68, 0x65, 0x6f, 0x72, 0x61]), 'video/ogg'],
  ['a.mp3', mp3, 'audio/mpeg'],
  ['a.mp3', mp3WithPicture, 'audio/mpeg'],
  ['a.wav', bytes('RIFF', [36, 0, 0, 0], 'WAVEfmt ', 30), 'audio/wav'],
  ['a.avi', bytes('RIFF', [36, 0, 0, 0], 'AVI LIST', 30), 'video/vnd.avi'],
  ['a.amr', bytes('#!AMR\n', [0x3c, 0, 1], 30), 'audio/amr'],
  ['a.flac', bytes('fLaC', 40), 'audio/flac'],
  ['a.wmv', bytes([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9], 6), 'video/x-ms-wmv'],
  ['a.pdf', pdf, 'application/pdf'],
  ['a.pdf', '%PDF-1.4\nall of it ASCII', 'application/pdf'],
  ['a.pdf', bytes('\r\n\0', pdf), 'application/pdf'],
  ['a', pdf, 'application/pdf'],
  ['a.rtf', '{\\rtf1\\ansi x}', 'application/rtf'],
  ['a.doc', cfb, 'application/msword'],
  ['a.doc', '{\\rtf1\\ansi x}', 'application/msword'],
  ['a.xls', cfb, 'application/vnd.ms-excel'],
  ['a.msg', cfb, 'application/vnd.ms-outlook'],
  ['a', cfb, 'application/x-cfb'],
  [
    'a.docx',
    officeXml('wordprocessingml.document.main'),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  ['a', officeXml('wordprocessingml.document.main'), 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['a.xlsx', officeXml('spreadsheetml.sheet.main'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['a.xlsx', zip('xl/other.xml', 'x'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['a.xlsx', cfb, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  [
    'a.pptx',
    officeXml('presentationml.presentation.main'),
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  ['a.odt', zip('mimetype', 'application/vnd.oasis.opendocument.text'), 'application/vnd.oasis.opendocument.text'],
  ['a.zip', zip('a.txt', 'x'), 'application/zip'],
  ['a', zip('a.txt', 'x'), 'application/zip'],
  ['a.zip', officeXml('spreadsheetml.sheet.main'), 'application/zip'],
  ['a.zip', bytes('PK', [5, 6], 18), 'application/zip'],
  ['a.gz', gzipSync('x'), 'application/gzip'],
  ['a.tar.gz', gzipSync('x'), 'application/gzip'],
  ['a', gzipSync('x'), 'application/gzip'],
  ['a.7z', bytes('7z', [0xbc, 0xaf, 0x27, 0x1c], 30), 'application/x-7z-compressed'],
  ['a.rar', bytes('Rar!', [0x1a, 7, 0], 30), 'application/vnd.rar'],
  ['a.eps', '%!PS-Adobe-3.0 EPSF-3.0\n', 'application/postscript'],
  ['a.ai', pdf, 'application/postscript'],
  ['a.ttf', bytes([0, 1, 0, 0, 0, 12], 30), 'font/ttf'],
  ['a.woff2', bytes('wOF2', [0, 1, 0, 0], 40), 'font/woff2'],
  ['a.woff2', 'wOF2', 'font/woff2'],
  ['a.woff', 'wOFF', 'font/woff'],
  ['a.webm', bytes([0x1a, 0x45, 0xdf, 0xa3]), 'video/webm'],
  ['a.txt', 'hello', 'text/plain; charset=utf-8'],
  ['a.txt', 'שלום', 'text/plain; charset=utf-8'],
  ['a.txt', 'GIF is a format, MZ are two letters', 'text/plain; charset=utf-8'],
  ['a.txt', 'MZ are two letters', 'text/plain; charset=utf-8'],
  ['a.txt', 'solid ground', 'text/plain; charset=utf-8'],
  ['a.txt', 'a\x1a', 'text/plain; charset=utf-8'],
  ['a.log', '\x1b[31mred\x1b[0m', 'text/plain; charset=utf-8'],
  ['a.csv', hebrew, 'text/csv; charset=utf-8'],
  ['a.csv', `\ufeff${hebrew}`, 'text/csv; charset=utf-8'],
  ['a.csv', hebrew1255, 'text/csv'],
  ['a.csv', utf16, 'text/csv; charset=utf-16'],
  ['a.csv', Buffer.from(utf16).swap16(), 'text/csv; charset=utf-16'],
  ['a.csv', '0707070,972\n', 'text/csv; charset=utf-8'],
  ['a.ts', bytes([0x47], 187, [0x47], 187, [0x47], 187), 'video/mp2t'],
  ...'js mjs cjs jsx ts tsx css'
    .split(' ')
    .map((extension) => [`a.${extension}`, 'alert(1)', 'text/plain; charset=utf-8', 'text/javascript'] as const),
  ['a', 'alert(1)', 'text/plain; charset=utf-8', 'text/javascript'],
  ['a', 'body {}', 'text/plain; charset=utf-8', 'text/css'],
  ['a.xsl', '<xsl:stylesheet/>', 'text/plain; charset=utf-8'],
  ['www.example.com', 'hello', 'text/plain; charset=utf-8'],
  ['www.example.com', png, 'image/png'],
  ['first.run', 'hello', 'text/plain; charset=utf-8'],
  ['a.key', '-----BEGIN PRIVATE KEY-----\n', 'text/plain; charset=utf-8'],
  ['a.key', zip('Index/Document.iwa', 'x'), 'application/vnd.apple.keynote'],
  ['a.pub', 'ssh-ed25519 AAAA', 'text/plain; charset=utf-8'],
  ['a.pub', cfb, 'application/vnd.ms-publisher'],
  ['a.pem', '-----BEGIN CERTIFICATE-----\n', 'text/plain; charset=utf-8'],
  ['a.crt', '-----BEGIN CERTIFICATE-----\n', 'text/plain; charset=utf-8'],
  ['a', hebrewWord, 'text/plain'],
  ['a.txt', hebrewWord, 'text/plain'],
  ['a.md', hebrewWord, 'text/markdown'],
  ['a.html', '<h1>x</h1>', 'text/html; charset=utf-8'],
  ['a.htm', '<!-- x --><!doctype html><p>', 'text/html; charset=utf-8'],
  ['a', '<!DOCTYPE html><title>x</title>', 'text/html; charset=utf-8', 'text/plain'],
  ['a', '<script>alert(1)</script>', 'text/html; charset=utf-8', 'text/csv'],
  ['a', svg, 'image/svg+xml'],
  ['a', '<a:svg xmlns:a="x"/>', 'image/svg+xml'],
  ['a', '<?xml version="1.0"?><root/>', 'application/xml'],
  ['a.xml', '\ufeff<?xml version="1.0"?><root/>', 'application/xml'],
  ['a.xml', '<svg/>', 'application/xml'],
  ['a.json', '\ufeff{"a":1}', 'application/json'],
  ['a.json', '{"a":1}\n{"a":2}', 'application/json'],
  ['a', '{"a":1}', 'application/json'],
  ['a', '{not json', 'text/plain; charset=utf-8'],
  ['a.ics', 'BEGIN:VCALENDAR\r\n', 'text/calendar; charset=utf-8'],
  ['a.vcf', 'BEGIN:VCARD\r\n', 'text/vcard; charset=utf-8'],
  ['a', 'BEGIN:VCARD\r\n', 'text/vcard; charset=utf-8'],
  ['a.eml', 'From: a@b.c\r\n\r\nx', 'message/rfc822'],
  ['a', 'x;y', 'text/csv; charset=utf-8', 'text/csv'],
  ['a', 'x;y', 'text/csv; charset=utf-8', 'TEXT/CSV; charset=x'],
  ['a', 'x;y', 'text/plain; charset=utf-8', 'text/html'],
  ['a', 'x;y', 'text/plain; charset=utf-8', 'image/png'],
  ['a.unheard', 'x', 'text/plain; charset=utf-8'],
  ['constructor', 'x', 'text/plain; charset=utf-8'],
  ['a.__proto__', 'x', 'text/plain; charset=utf-8'],
];

for (const [name, content, type, said] of taken)
  test(`${name} of ${JSON.stringify(content.toString('latin1').slice(0, 12))} is ${type}`, async () => {
    assert.equal(await detectType(Buffer.from(content), true, name, said), type);
  });

const refused: readonly (readonly [name: string, content: Buffer | string])[] = [
  ['a.png', jpeg],
  ['a.jpg', png],
  ['a.png', 'hello'],
  ['a.pdf', 'hello'],
  ['a.pdf', png],
  ['a.txt', png],
  ['a.txt', png.subarray(0, 8)],
  ['a.txt', jpeg.subarray(0, 4)],
  ['a.txt', pdf],
  ['a.txt', '%PDF-1.4\nall of it ASCII'],
  ['a.csv', cfb],
  ['a.docx', 'hello'],
  ['a.docx', officeXml('spreadsheetml.sheet.main')],
  ['a.docx', pdf],
  ['a.xlsx', '<html>'],
  ['a.zip', 'hello'],
  ['a.mp3', 'hello'],
  ['a.svg', '<html></html>'],
  ['a.svg', 'hello'],
  ['a.xml', 'hello'],
  ['a.json', 'hello'],
  ['a.txt', bytes([0, 1, 2, 3])],
  ['a.txt', Buffer.from('hello', 'utf16le')],
  ['a', bytes([0, 1, 2, 3])],
  ['a', bytes([0xde, 0xad, 0xbe, 0xef])],
  ['a.bin', bytes([0xde, 0xad, 0xbe, 0xef])],
  ['a.exe', windowsExecutable],
  ['a.exe', 'hello'],
  ['a.exe. ', 'hello'],
  ['a.png', windowsExecutable],
  ['a', windowsExecutable],
  ['a', 'MZ and letters'],
  ['a', bytes([0x7f], 'ELF', [2, 1, 1], 30)],
  ['a', bytes([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0x34], 30)],
  ['a', bytes([0xcf, 0xfa, 0xed, 0xfe], 30)],
  ['a', bytes([0], 'asm', [1, 0, 0, 0], 30)],
  ['a', bytes('dex\n035', [0], 30)],
  ['a', installer],
  ['a.doc', installer],
  ['a.msi', cfb],
  ['a', zip('META-INF/MANIFEST.MF', 'x')],
  ['a.zip', zip('classes.dex', 'x')],
  ['a', '#!/bin/sh\n'],
  ['a.txt', '#!/bin/sh\n'],
  ['a.txt', '\ufeff#!/bin/sh\n'],
  ['a.bat', 'echo'],
  ['www.example.com', windowsExecutable],
  ['first.run', '#!/bin/sh\n'],
  ['first.run', bytes([0x7f], 'ELF', [2, 1, 1], 30)],
  ['a.command', '#!/bin/sh\n'],
  ['a.key', png],
  ['a.xsl', 'hello'],
  ['a', bytes([0xe0, 0xe1, 0xde])],
  ['a.ps1', 'echo'],
  ['a.sh', 'echo'],
];

for (const [name, content] of refused)
  test(`${name} of ${JSON.stringify(content.toString('latin1').slice(0, 12))} is refused`, async () => {
    await assert.rejects(detectType(Buffer.from(content), true, name), { key: 'invalidFileType' });
  });

test('no type is served that a page would run or apply', () => {
  const applied = /javascript|ecmascript|jscript|livescript|css|wasm|xsl|shockwave|speculationrules/;
  for (const type of new Set([...typesOfExtension.values()].flat().concat([...typeOfFinding.values()])))
    assert.doesNotMatch(type.contentType, applied);
});

test('Hebrew in its code page is text whatever it begins with', async () => {
  for (let first = 0xe0; first <= 0xfa; first++)
    for (let second = 0xe0; second <= 0xfa; second++)
      for (const name of ['a', 'a.txt']) {
        const word = bytes([first, second], hebrewWord, hebrewWord);
        assert.equal(await detectType(word, true, name), 'text/plain');
      }
});

test('a sample may end within a character', async () => {
  for (const cut of [0, 1, 2, 3]) {
    const sample = Buffer.from(`${'x'.repeat(cut)}${'😀'.repeat(SAMPLE_BYTES)}`).subarray(0, SAMPLE_BYTES);
    assert.equal(await detectType(sample, false, 'a.txt'), 'text/plain; charset=utf-8');
  }
  assert.match(await detectType(Buffer.from('\ufeffab', 'utf16le').subarray(0, 5), false, 'a.txt'), /^text/);
});

test('a large upload is what its bytes are, but no executable', async () => {
  assert.equal(await describeType(png, true, 'a.jpg'), 'image/png');
  assert.equal(await describeType(png, true, 'a.png'), 'image/png');
  assert.equal(await describeType(bytes([0, 1, 2, 3]), true, 'a.bin'), 'application/octet-stream');
  assert.equal(await describeType(windowsExecutable, true, 'a.mp4'), null);
  assert.equal(await describeType(png, true, 'a.exe'), null);
});

test('hostile samples cost little', async () => {
  const started = performance.now();
  for (const sample of [
    Buffer.alloc(SAMPLE_BYTES, '<'),
    Buffer.alloc(SAMPLE_BYTES, '<!'),
    Buffer.alloc(SAMPLE_BYTES, '<?'),
    Buffer.alloc(SAMPLE_BYTES, '<!-- -->'),
    Buffer.alloc(SAMPLE_BYTES, '<![]>'),
    Buffer.alloc(SAMPLE_BYTES, ' '),
    Buffer.alloc(SAMPLE_BYTES, '['),
    Buffer.alloc(SAMPLE_BYTES, zip('a', 'b')),
    Buffer.alloc(SAMPLE_BYTES, gzipSync(Buffer.alloc(1_000_000))),
    Buffer.alloc(SAMPLE_BYTES, 'ID3'),
  ])
    for (const name of ['a', 'a.svg', 'a.json', 'a.zip']) await describeType(sample, false, name);
  assert.ok(performance.now() - started < 3_000);
});
