import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { fail } from '../../errors/fail.ts';
import { Base64Decoder } from '../../files/index.ts';
import { withoutMark } from '../../kernel/json.ts';

/** Bytes of a JSON upload beside its base64: some milliseconds to parse, whatever they are. */
const REST_BYTES = 256 * 1024;
/** Bytes of a base64 that stays where it is. */
const SHORT_BYTES = 64 * 1024;
/** Bytes that are looked at at once. */
const PIECE_BYTES = 256 * 1024;
const QUOTE = 34;
const BACKSLASH = 92;
const base64Key = /(?<!\\)"base64"\s*:\s*"/g;

/** The long base64 of a JSON upload, which is never parsed. */
export interface LongString {
  /** Stands for it in the text. */
  readonly mark: string;
  /** Bytes between its quotes. */
  readonly size: number;
  /** Those bytes, read anew each time. */
  bytes(): AsyncIterable<Buffer>;
}

/** A JSON upload: its text, where a mark may stand for its base64. */
export interface JsonBody {
  readonly text: string;
  readonly long: LongString | null;
}

/**
 * Reads a body of JSON that may be an upload. A long base64 is left in the file and found by its quotes, so that a body costs little whatever
 * it holds.
 * @param file as it was received
 * @returns `null` where it has more than `REST_BYTES` beside one base64
 */
export async function readJsonBody({ path, size }: { readonly path: string; readonly size: number }): Promise<JsonBody | null> {
  if (size <= REST_BYTES) return { text: withoutMark(await readFile(path, 'utf8')), long: null };
  await using handle = await open(path);
  const head = await read(handle, 0, REST_BYTES);
  const start = startOfLong(head);
  const end = start < 0 ? -1 : await endOfString(handle, start, size);
  if (end < 0 || start + size - end > REST_BYTES) return null;
  // Nobody can name it before.
  const mark = randomUUID();
  const text = withoutMark(
    Buffer.concat([head.subarray(0, start), Buffer.from(mark), await read(handle, end, size - end)]).toString(),
  );
  const bytes = async function* () {
    yield* createReadStream(path, { start, end: end - 1, highWaterMark: PIECE_BYTES });
  };
  return { text, long: { mark, size: end - start, bytes } };
}

/** Where the first long string begins that looks like the value of `base64`: whether it is one shows when the rest is parsed; -1 for none. */
function startOfLong(head: Buffer): number {
  for (const { 0: found, index } of head.toString('latin1').matchAll(base64Key)) {
    const start = index + found.length;
    const end = head.indexOf(QUOTE, start);
    if (end < 0 || end - start > SHORT_BYTES) return start;
  }
  return -1;
}

/** Where the quote is that ends a base64, none of whose escapes is a quote; -1 for none. */
async function endOfString(handle: FileHandle, start: number, size: number): Promise<number> {
  for (let at = start; at < size; at += PIECE_BYTES) {
    const piece = await read(handle, at, Math.min(PIECE_BYTES, size - at));
    const end = piece.indexOf(QUOTE);
    if (end >= 0) return isEscaped(piece, end) ? -1 : at + end;
  }
  return -1;
}

/** What is cut off before it, the decoder finds. */
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
/** As JSON never writes them; other control characters are no white space either. */
const unescapedBlank = /[\t\r\n\f\v]/;
const escaped = /\\(?:u([0-9a-f]{4})|([^u]))/gi;
/** An escape that goes on in the next piece. */
const brokenEscape = /\\(?:u[0-9a-f]{0,3})?$/i;
const shortEscapes: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries({ '/': '/', n: '\n', r: '\r', t: '\t', f: '\f' }),
);

/**
 * Reads what stands between the quotes of a JSON string that is base64.
 * @param pieces its bytes
 * @throws badUpload (107) where it is none
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
  // What is no escape of base64 is none of its letters either.
  return text.replace(escaped, (whole, code?: string, letter?: string) =>
    code === undefined ? (shortEscapes.get(letter) ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
