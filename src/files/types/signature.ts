import { fileTypeFromBuffer } from 'file-type';
import type { Finding } from './table.ts';

/** Signatures that take precedence over file-type, which does not know them or misinterprets them. */
const first: readonly (readonly [Finding, Buffer])[] = [
  ['pdf', Buffer.from('%PDF-')],
  ['amr', Buffer.from('#!AMR')],
  ['dex', Buffer.from('dex\n0')],
  ['tnef', Buffer.from([0x78, 0x9f, 0x3e, 0x22])],
  ['class', Buffer.from([0xca, 0xfe, 0xba, 0xbe])],
];

/** Signatures for formats that file-type parses further: the first 64 KiB do not suffice for it. */
const last: readonly (readonly [Finding, Buffer])[] = [
  ['png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['tif', Buffer.from([0x49, 0x49, 0x2a, 0x00])],
  ['tif', Buffer.from([0x4d, 0x4d, 0x00, 0x2a])],
  ['mp3', Buffer.from('ID3')],
  ['zip', Buffer.from([0x50, 0x4b, 0x03, 0x04])],
  ['gz', Buffer.from([0x1f, 0x8b, 0x08])],
  ['ogx', Buffer.from('OggS')],
  ['asf', Buffer.from([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11])],
  ['jp2', Buffer.from([0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20])],
  ['webm', Buffer.from([0x1a, 0x45, 0xdf, 0xa3])],
  ['woff', Buffer.from('wOFF')],
  ['woff2', Buffer.from('wOF2')],
];

/** The class id of Windows installers, as stored in the directory of an OLE file. */
const installer = Buffer.from('84100c0000000000c000000000000046', 'hex');
/** A PDF may have other bytes before its first line. */
const PDF_WINDOW_BYTES = 1024;

/** Identifies the bytes by their signature, in the names of file-type; `null` if none is known. */
export async function findSignature(sample: Buffer): Promise<Finding | null> {
  const early = startOf(first, sample);
  if (early !== null) return early;
  const found = (await detect(sample)) ?? startOf(last, sample);
  if (found === 'cfb' && sample.includes(installer)) return 'msi';
  if (found === null && sample.subarray(0, PDF_WINDOW_BYTES).includes('%PDF-')) return 'pdf';
  return found;
}

/** Runs file-type, which may fail on hostile samples; they count as unknown. */
async function detect(sample: Buffer): Promise<Finding | null> {
  try {
    return (await fileTypeFromBuffer(sample))?.ext ?? null;
  } catch {
    return null;
  }
}

function startOf(signatures: readonly (readonly [Finding, Buffer])[], sample: Buffer): Finding | null {
  return signatures.find(([, bytes]) => sample.subarray(0, bytes.length).equals(bytes))?.[0] ?? null;
}
