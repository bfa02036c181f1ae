import type { IncomingHttpHeaders } from 'node:http';
import { fail, isRefusal } from '../../errors/fail.ts';
import { Base64Decoder } from '../../files/index.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Envelope, parseEnvelope } from '../endpoint/parse-request.ts';
import { decodeJsonBase64, type LongBase64 } from './json-body.ts';

/** Growth of base64 in lines of 76 characters, each with an escaped line end of four characters. */
const LINE_END_FACTOR = 80 / 76;
/** Maximum size of a JSON upload: the largest file in base64, and room for the other fields. */
export const MAX_JSON_UPLOAD_BYTES = Math.ceil((limits.fileBytes / 3) * 4 * LINE_END_FACTOR) + 256 * 1024;
/** Length of the head by which a body is recognised as a JSON upload if a header names the application. */
export const HEAD_BYTES = 64 * 1024;

/** Keys of a JSON upload that do not describe the request. Reference: files.md#json-upload. */
const uploadKeys: ReadonlySet<string> = new Set(['base64', '_ContentType', 'fileData']);

/** Whether a body may be a JSON upload although a header names the application, judged by its first `HEAD_BYTES`. */
export function mayBeUpload(head: Buffer): boolean {
  return /"(?:base64|_method)"\s*:/.test(head.toString('latin1', 0, HEAD_BYTES));
}

/**
 * Parses a body that may be a JSON upload.
 * @param text the body
 * @param isNamed whether a header names the application; then the body may also be a file that contains JSON
 * @returns `null` if the body is a file
 * @throws unauthorized (403) if it is no JSON upload and no header names the application
 */
export function readJsonUpload(headers: IncomingHttpHeaders, text: string, isNamed: boolean): Envelope | null {
  const envelope = tryParse(headers, text);
  if (envelope && isJsonObject(envelope.body) && (!isNamed || isUpload(envelope, envelope.body))) return envelope;
  return isNamed ? null : fail('unauthorized');
}

function tryParse(headers: IncomingHttpHeaders, text: string): Envelope | null {
  try {
    return parseEnvelope(headers, text);
  } catch {
    return null;
  }
}

function isUpload({ method }: Envelope, body: JsonObject): boolean {
  const isMeant = typeof own(body, 'base64') === 'string' || (method !== undefined && method !== null);
  return isMeant && Object.keys(body).every((key) => uploadKeys.has(key));
}

/** The file in a JSON upload. */
export interface JsonFile {
  /** The decoded bytes. @throws badUpload (107) for invalid base64 */
  readonly bytes: AsyncIterable<Buffer>;
  /** The content type that the client states. */
  readonly statedType: string | undefined;
}

/**
 * Returns the file of a JSON upload.
 * @param long the string that the placeholder in the body stands for
 * @throws emptyFile (130), badUpload (107) if `base64` is invalid
 */
export function fileOf(body: JsonObject, long: LongBase64 | null): JsonFile {
  const base64 = own(body, 'base64') ?? '';
  const said = own(body, '_ContentType');
  const statedType = typeof said === 'string' ? said : undefined;
  if (typeof base64 !== 'string') fail('badUpload', 'base64 is not valid');
  if (long) return { bytes: decodeJsonBase64(long.bytes()), statedType };
  const decoder = new Base64Decoder();
  const bytes = Buffer.concat([decoder.push(base64), decoder.end()]);
  if (bytes.length === 0) fail('emptyFile');
  return { bytes: asPieces(bytes), statedType };
}

async function* asPieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

/** Whether the value of `base64` is the placeholder of the long string, if there is one. */
export function refersTo({ body }: Envelope, long: LongBase64 | null): boolean {
  return long === null || (isJsonObject(body) && own(body, 'base64') === long.placeholder);
}

/** Whether a long base64 string decodes to more than the maximum file size. Invalid base64 counts up to its first error. */
export async function isTooLarge(long: LongBase64): Promise<boolean> {
  if ((long.size / 4) * 3 <= limits.fileBytes) return false;
  let size = 0;
  try {
    for await (const piece of decodeJsonBase64(long.bytes())) size += piece.length;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return size > limits.fileBytes;
}
