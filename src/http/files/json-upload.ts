import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Envelope, openEnvelope } from '../envelope.ts';

/** Bytes that a JSON upload takes at most: the largest file in base64, and room for what is said beside it. */
export const jsonUploadBytes = Math.ceil(limits.fileBytes / 3) * 4 + 256 * 1024;

/** Keys of a JSON upload that are not about the request (docs/decisions.md "Files": JSON upload). */
const known: ReadonlySet<string> = new Set(['base64', '_ContentType', 'fileData']);

/**
 * Reads a body that may be a JSON upload.
 * @param isNamed whether a header names the application: the body may then be a file of JSON text as well
 * @returns `null` where it is a file
 * @throws unauthorized (403) for what is no such body and names no application
 */
export function readJsonUpload(headers: IncomingHttpHeaders, body: Buffer, isNamed: boolean): Envelope | null {
  // What holds neither key is spared the reading.
  if (isNamed && !body.includes('"base64"') && !body.includes('"_method"')) return null;
  const envelope = tryOpen(headers, withoutMark(body));
  if (envelope && isJsonObject(envelope.body) && (!isNamed || isUpload(envelope, envelope.body))) return envelope;
  return isNamed ? null : fail('unauthorized');
}

function tryOpen(headers: IncomingHttpHeaders, text: string): Envelope | null {
  try {
    return openEnvelope(headers, text);
  } catch {
    return null;
  }
}

function isUpload({ method }: Envelope, body: JsonObject): boolean {
  const isMeant = typeof own(body, 'base64') === 'string' || (method !== undefined && method !== null);
  return isMeant && Object.keys(body).every((key) => known.has(key));
}

function withoutMark(body: Buffer): string {
  const text = body.toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** A file as a JSON body holds it. */
export interface JsonFile {
  readonly bytes: Buffer;
  /** What the client says it is. */
  readonly saidType: string | undefined;
}

/** @throws emptyFile (130) where there is none, badUpload (107) where `base64` is not that */
export function fileOf(body: JsonObject): JsonFile {
  const base64 = own(body, 'base64') ?? null;
  const saidType = own(body, '_ContentType');
  if (base64 === null || base64 === '') fail('emptyFile');
  return { bytes: decode(base64), saidType: typeof saidType === 'string' ? saidType : undefined };
}

function decode(base64: unknown): Buffer {
  const bytes = typeof base64 === 'string' && base64.length % 4 === 0 ? Buffer.from(base64, 'base64') : null;
  // Characters that are none of base64 are passed over by the decoder, so that less comes out.
  if (!bytes || bytes.length !== lengthOf(base64 as string)) return fail('badUpload', 'base64 is not valid');
  return bytes;
}

/** Bytes that a text of base64 stands for. */
function lengthOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
