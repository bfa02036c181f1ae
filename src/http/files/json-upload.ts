import type { IncomingHttpHeaders } from 'node:http';
import { fail, isRefusal } from '../../errors/fail.ts';
import { Base64Decoder } from '../../files/index.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Envelope, openEnvelope } from '../endpoint/parse-request.ts';
import { decodeJsonBase64, type LongString } from './json-body.ts';

/** Of base64 in lines of 76 letters, each with an escaped end of four. */
const LINE_END_FACTOR = 80 / 76;
/** Bytes that a JSON upload takes at most: the largest file in base64, and room for what is said beside it. */
export const MAX_JSON_UPLOAD_BYTES = Math.ceil((limits.fileBytes / 3) * 4 * LINE_END_FACTOR) + 256 * 1024;
/** How much of a body tells whether it may be a JSON upload where a header names the application. */
export const HEAD_BYTES = 64 * 1024;

/** Keys of a JSON upload that are not about the request (docs/decisions.md "Files": JSON upload). */
const known: ReadonlySet<string> = new Set(['base64', '_ContentType', 'fileData']);

/** Whether a body that begins so may be a JSON upload where a header names the application: its first `HEAD_BYTES` tell. */
export function mayBeUpload(head: Buffer): boolean {
  return /"(?:base64|_method)"\s*:/.test(head.toString('latin1', 0, HEAD_BYTES));
}

/**
 * Reads a body that may be a JSON upload.
 * @param text of the body
 * @param isNamed whether a header names the application: the body may then be a file of JSON text as well
 * @returns `null` where it is a file
 * @throws unauthorized (403) for what is no such body and names no application
 */
export function readJsonUpload(headers: IncomingHttpHeaders, text: string, isNamed: boolean): Envelope | null {
  const envelope = tryOpen(headers, text);
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

/** A file as a JSON body holds it. */
export interface JsonFile {
  /** As they are decoded. @throws badUpload (107) where they are no base64 */
  readonly bytes: AsyncIterable<Buffer>;
  /** What the client says it is. */
  readonly saidType: string | undefined;
}

/**
 * The file of a JSON upload.
 * @param long what a mark in the body stands for
 * @throws emptyFile (130) where there is none, badUpload (107) where `base64` is not that
 */
export function fileOf(body: JsonObject, long: LongString | null): JsonFile {
  const base64 = own(body, 'base64') ?? '';
  const said = own(body, '_ContentType');
  const saidType = typeof said === 'string' ? said : undefined;
  if (typeof base64 !== 'string') fail('badUpload', 'base64 is not valid');
  if (long) return { bytes: decodeJsonBase64(long.bytes()), saidType };
  const decoder = new Base64Decoder();
  const bytes = Buffer.concat([decoder.push(base64), decoder.end()]);
  if (bytes.length === 0) fail('emptyFile');
  return { bytes: asPieces(bytes), saidType };
}

async function* asPieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

/** Whether the body's `base64` is what its mark stands for, if it has one. */
export function holdsLong({ body }: Envelope, long: LongString | null): boolean {
  return long === null || (isJsonObject(body) && own(body, 'base64') === long.mark);
}

/** Whether a long base64 holds more than a file may; what is no base64 counts as far as it is. */
export async function isTooLarge(long: LongString): Promise<boolean> {
  if ((long.size / 4) * 3 <= limits.fileBytes) return false;
  let size = 0;
  try {
    for await (const piece of decodeJsonBase64(long.bytes())) size += piece.length;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return size > limits.fileBytes;
}
