/** Shortest bytes of many file types that can still be recognised. */
import { crc32, gzipSync } from 'node:zlib';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const ascii = (text: string) => Buffer.from(text, 'latin1');
const padded = (head: Buffer, size = 600) => Buffer.concat([head, Buffer.alloc(Math.max(0, size - head.length), 1)]);

/** A ZIP archive of stored entries. */
export function zip(entries: Record<string, string>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const [path, bytes] = [Buffer.from(name), Buffer.from(text)];
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(bytes.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(path.length, 22);
    local.push(hex('504b0304'), shared, path, bytes);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    central.push(hex('504b0102'), hex('1400'), shared, place, path);
    offset += 30 + path.length + bytes.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(entries).length, 4);
  end.writeUInt16LE(Object.keys(entries).length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, directory, hex('504b0506'), end]);
}

const contentTypes = (part: string, type: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`;
const office = (folder: string, part: string, type: string) =>
  zip({
    '[Content_Types].xml': contentTypes(`/${folder}/${part}`, type),
    '_rels/.rels': '<?xml version="1.0"?><Relationships/>',
    [`${folder}/${part}`]: '<?xml version="1.0"?><x/>',
  });

const wav = Buffer.concat([
  ascii('RIFF'),
  hex('2c000000'),
  ascii('WAVEfmt '),
  hex('10000000 0100 0100 44ac0000 88580100 0200 1000'),
  ascii('data'),
  hex('08000000'),
  Buffer.alloc(8),
]);
const tar = () => {
  const header = Buffer.alloc(512);
  header.write('a.txt');
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write('00000000000\0', 124);
  header.write('00000000000\0', 136);
  header.fill(' ', 148, 156);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.alloc(1024)]);
};

export const samples = {
  png: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
  jpeg: padded(hex('ffd8ffe000104a46494600010100000100010000')),
  gif: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  webp: padded(Buffer.concat([ascii('RIFF'), hex('50020000'), ascii('WEBPVP8 ')])),
  bmp: padded(Buffer.concat([ascii('BM'), hex('58020000 00000000 36000000 28000000')])),
  tiff: padded(hex('49492a0008000000')),
  ico: padded(hex('000001000100101000000100')),
  pdf: ascii('%PDF-1.7\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n'),
  zip: zip({ 'a.txt': 'text' }),
  docx: office('word', 'document.xml', 'wordprocessingml.document'),
  xlsx: office('xl', 'workbook.xml', 'spreadsheetml.sheet'),
  pptx: office('ppt', 'presentation.xml', 'presentationml.presentation'),
  odt: zip({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': '<x/>' }),
  doc: padded(hex('d0cf11e0a1b11ae1 00000000000000000000000000000000 3e000300feff0900'), 2_000),
  gzip: gzipSync('text'),
  sevenZip: padded(hex('377abcaf271c0004')),
  rar: padded(hex('526172211a070100')),
  tar: tar(),
  mp3: padded(Buffer.concat([ascii('ID3'), hex('03000000000000'), hex('fffb9064')])),
  wav,
  ogg: padded(
    Buffer.concat([ascii('OggS'), hex('0002 0000000000000000 00000000 00000000 00000000 011e'), hex('01'), ascii('vorbis')]),
  ),
  mp4: padded(Buffer.concat([hex('00000018'), ascii('ftypisom'), hex('00000200'), ascii('isomiso2')])),
  webm: padded(
    Buffer.concat([hex('1a45dfa3 9f 4286 81 01 42f7 81 01 42f2 81 04 42f3 81 08 4282 84'), ascii('webm'), hex('4287 81 04')]),
  ),
  woff2: padded(Buffer.concat([ascii('wOF2'), hex('00010000')])),
  rtf: ascii('{\\rtf1\\ansi text}'),
  text: Buffer.from('Plain text.\r\nשלום עולם\n'),
  utf8Mark: Buffer.from('\ufeffa,b\r\n1,שלום\r\n'),
  utf16: Buffer.from('\ufeffשלום, text\r\n', 'utf16le'),
  utf16be: Buffer.from('\ufeffשלום, text\r\n', 'utf16le').swap16(),
  /** Hebrew in the code page Windows-1255. */
  windows1255: Buffer.concat([ascii('a,b\r\n1,'), hex('f9 ec e5 ed'), ascii('\r\n')]),
  latin1: ascii('na\xefve caf\xe9\n'),
  csv: Buffer.from('name,phone\n"דנה",03-1234567\n'),
  json: Buffer.from('{"a": [1, "ב"]}'),
  xml: Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<a><b/></a>\n'),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  svgWithProlog: Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
  html: Buffer.from('<!doctype html><html><body><script>alert(1)</script></body></html>'),
  ics: Buffer.from('BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n'),
  vcf: Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\nEND:VCARD\r\n'),
  eml: Buffer.from('From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\n\r\ntext\r\n'),
  /** A two-byte letter crosses every boundary that is a power of two. */
  longHebrew: Buffer.from(`x${'ש'.repeat(50_000)}`),
  elf: padded(hex('7f454c46 02010100 0000000000000000 0200 3e00 01000000')),
  exe: padded(Buffer.concat([ascii('MZ'), hex('90000300000004000000ffff0000b800')])),
  machO: padded(hex('cffaedfe 07000001 03000000 02000000')),
  javaClass: padded(hex('cafebabe 00000034')),
  wasm: padded(hex('0061736d 01000000')),
  shellScript: Buffer.from('#!/bin/sh\nrm -rf /\n'),
  markedScript: Buffer.from('#!/usr/bin/env python3\nprint(1)\n'),
  /** Not text in any encoding, and of no known type. */
  binary: Buffer.from(Uint8Array.from({ length: 601 }, (_, n) => (n * 7 + (n % 3) * 85) % 256)),
  zeros: Buffer.alloc(601),
} as const;

export type SampleName = keyof typeof samples;
