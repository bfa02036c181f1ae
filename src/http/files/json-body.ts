import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { fail } from '../../errors/fail.ts';
import { Base64Decoder } from '../../files/index.ts';
import { withoutMark } from '../../kernel/json.ts';

/** Limit in bytes of a JSON upload without its base64: parses in some milliseconds. */
export const MAX_REST_BYTES = 256 * 1024;
/** Maximum size of a base64 string that stays in the text. */
const MAX_INLINE_BYTES = 64 * 1024;
/** Size of a read chunk. */
const CHUNK_BYTES = 256 * 1024;
const QUOTE = 34;
const BACKSLASH = 92;
const base64Key = /(?<!\\)"base64"\s*:\s*"/g;

/** The long base64 string of a JSON upload, which is never parsed as JSON. */
export interface LongBase64 {
  /** Placeholder for the string in the text. */
  readonly placeholder: string;
  /** Length between the quotes in bytes. */
  readonly size: number;
  /** Opens the bytes; each call reads them again. */
  bytes(): AsyncIterable<Buffer>;
}

/** A JSON upload: its text, in which a placeholder may stand for its base64. */
export interface JsonBody {
  readonly text: string;
  readonly longBase64: LongBase64 | null;
}

/**
 * Reads a JSON body that may be an upload. A long base64 string stays in the file and is located by its quotes, so that memory is bounded whatever
 * the body contains.
 * @param file the received body
 * @returns `null` if it has more than `MAX_REST_BYTES` besides one base64 string
 */
export async function readJsonBody({ path, size }: { readonly path: string; readonly size: number }): Promise<JsonBody | null> {
  if (size <= MAX_REST_BYTES) return { text: withoutMark(await readFile(path, 'utf8')), longBase64: null };
  await using handle = await open(path);
  const head = await read(handle, 0, MAX_REST_BYTES);
  const start = startOfLong(head);
  const end = start < 0 ? -1 : await endOfString(handle, start, size);
  if (end < 0 || start + size - end > MAX_REST_BYTES) return null;
  // Random, so that the body cannot contain it.
  const placeholder = randomUUID();
  const text = withoutMark(
    Buffer.concat([head.subarray(0, start), Buffer.from(placeholder), await read(handle, end, size - end)]).toString(),
  );
  const bytes = async function* () {
    yield* createReadStream(path, { start, end: end - 1, highWaterMark: CHUNK_BYTES });
  };
  return { text, longBase64: { placeholder, size: end - start, bytes } };
}

/** Returns the start of the first long string that looks like the value of `base64`, or -1. Parsing the rest shows whether it really is. */
function startOfLong(head: Buffer): number {
  for (const { 0: found, index } of head.toString('latin1').matchAll(base64Key)) {
    const start = index + found.length;
    const end = head.indexOf(QUOTE, start);
    if (end < 0 || end - start > MAX_INLINE_BYTES) return start;
  }
  return -1;
}

/** Returns the position of the quote that ends a base64 string (base64 needs no escaped quote), or -1. */
async function endOfString(handle: FileHandle, start: number, size: number): Promise<number> {
  for (let at = start; at < size; at += CHUNK_BYTES) {
    const piece = await read(handle, at, Math.min(CHUNK_BYTES, size - at));
    const end = piece.indexOf(QUOTE);
    if (end >= 0) return isEscaped(piece, end) ? -1 : at + end;
  }
  return -1;
}

/** Only the byte before matters: if a chunk boundary hides the backslash, the base64 decoder rejects it. */
const isEscaped = (piece: Buffer, at: number) => piece[at - 1] === BACKSLASH;

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

const notBase64 = 'base64 is not valid';
/** White space that JSON does not allow unescaped in a string; the decoder rejects other control characters. */
const unescapedBlank = /[\t\r\n\f\v]/;
const escaped = /\\(?:u([0-9a-f]{4})|([^u]))/gi;
/** An escape that continues in the next piece. */
const brokenEscape = /\\(?:u[0-9a-f]{0,3})?$/i;
const shortEscapes: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries({ '/': '/', n: '\n', r: '\r', t: '\t', f: '\f' }),
);

/**
 * Decodes the base64 content of a JSON string, piece by piece.
 * @param pieces the bytes between the quotes
 * @throws badUpload (107) for invalid base64
 */
export async function* decodeJsonBase64(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const decoder = new Base64Decoder();
  let rest = '';
  for await (const piece of pieces) {
    let text = rest + piece.toString('latin1');
    rest = '';
    if (unescapedBlank.test(text)) fail('badUpload', notBase64);
    if (text.includes('\\')) {
      rest = brokenEscape.exec(text)?.[0] ?? '';
      text = withoutEscapes(text.slice(0, text.length - rest.length));
    }
    const bytes = decoder.push(text);
    if (bytes.length > 0) yield bytes;
  }
  if (rest !== '') fail('badUpload', notBase64);
  const last = decoder.end();
  if (last.length > 0) yield last;
}

function withoutEscapes(text: string): string {
  // Other escapes stay; the decoder rejects them.
  return text.replace(escaped, (whole, code?: string, letter?: string) =>
    code === undefined ? (shortEscapes.get(letter) ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
