import { isAscii } from 'node:buffer';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** Encoding assumed for a file that is not UTF-8: the default of Excel and older programs in Israel. */
export const FALLBACK = 'windows-1255';

/** Byte order marks. */
const marks: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Returns the encoding of a byte order mark. */
export function markedEncoding(start: Buffer): string | undefined {
  return marks.find(([, bytes]) => bytes.every((byte, at) => start[at] === byte))?.[0];
}

/** Checks the name of an encoding. @throws OperatorError */
export function checkEncoding(name: string): void {
  decoderOf(name);
}

function decoderOf(name: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(name, { fatal: true });
  } catch {
    throw new OperatorError(`there is no encoding ${JSON.stringify(name.slice(0, 40))}`);
  }
}

/** The file is not in the assumed encoding. */
export class NotInEncoding extends Error {
  /** Whether everything before was ASCII, which indicates another encoding rather than damage. */
  readonly isFromStart: boolean;

  constructor(isFromStart: boolean) {
    super('not in its encoding');
    this.isFromStart = isFromStart;
  }
}

/**
 * Decodes a file, without its byte order mark, in pieces.
 * @throws NotInEncoding
 */
export async function* decode(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const decoder = decoderOf(encoding);
  let wasAscii = true;
  for await (const chunk of chunks) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new NotInEncoding(wasAscii && isWrongAtOnce(chunk));
    }
    // A character split between chunks is complete in neither.
    wasAscii &&= isAscii(chunk);
    yield text;
  }
  try {
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  } catch {
    throw new NotInEncoding(false);
  }
}

/** Length of the longest UTF-8 sequence. */
const MAX_CHARACTER_BYTES = 4;

/** Whether the first non-ASCII byte does not start a valid UTF-8 sequence. */
function isWrongAtOnce(chunk: Buffer): boolean {
  const at = chunk.findIndex((byte) => byte >= 0x80);
  return at >= 0 && chunk.toString('utf8', at, at + MAX_CHARACTER_BYTES).startsWith('\uFFFD');
}

/** Converts to UTF-8. @throws NotInEncoding */
export async function* inUtf8(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  for await (const text of decode(chunks, encoding)) if (text !== '') yield Buffer.from(text);
}
