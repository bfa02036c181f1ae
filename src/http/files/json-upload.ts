import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Envelope, openEnvelope } from '../envelope.ts';

/** Of base64 in lines of 76 letters, each with an escaped end of four. */
const WITH_LINE_ENDS = 80 / 76;
/** Bytes that a JSON upload takes at most: the largest file in base64, and room for what is said beside it. */
export const jsonUploadBytes = Math.ceil((limits.fileBytes / 3) * 4 * WITH_LINE_ENDS) + 256 * 1024;
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
 * @param isNamed whether a header names the application: the body may then be a file of JSON text as well
 * @returns `null` where it is a file
 * @throws unauthorized (403) for what is no such body and names no application
 */
export function readJsonUpload(headers: IncomingHttpHeaders, body: Buffer, isNamed: boolean): Envelope | null {
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
  const base64 = own(body, 'base64') ?? '';
  const saidType = own(body, '_ContentType');
  if (typeof base64 !== 'string') fail('badUpload', notBase64);
  const bytes = decode(base64);
  if (bytes.length === 0) fail('emptyFile');
  return { bytes, saidType: typeof saidType === 'string' ? saidType : undefined };
}

const notBase64 = 'base64 is not valid';
/** What browsers' `FileReader` puts before it. */
const dataHead = /^\s*data:[^,]{0,1000};base64,/i;
const foreign = /[^\w+/-]/;

/** As lenient as Parse's decoder: white space, the letters of addresses and missing padding are taken. What it would pass over is not. */
function decode(base64: string): Buffer {
  const letters = base64.replace(dataHead, '').replace(/\s+/g, '');
  const end = letters.search(foreign);
  const length = end < 0 ? letters.length : end;
  const padding = letters.slice(length);
  const isPadded = (padding === '=' || padding === '==') && letters.length % 4 === 0;
  if ((padding !== '' && !isPadded) || length % 4 === 1) fail('badUpload', notBase64);
  return Buffer.from(letters, 'base64');
}
