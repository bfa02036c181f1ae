import { isAscii } from 'node:buffer';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** What a file that is no UTF-8 is taken for: what Excel and older programs write in Israel. */
export const FALLBACK = 'windows-1255';

/** Marks at the beginning of a file that name its encoding. */
const marks: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** The encoding that a file's first bytes name. */
export function markedEncoding(start: Buffer): string | undefined {
  return marks.find(([, bytes]) => bytes.every((byte, at) => start[at] === byte))?.[0];
}

/** @throws OperatorError for a name that no encoding has */
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

/** A file is not in the encoding that it is read with. */
export class NotInEncoding extends Error {
  /** Whether nothing before was beyond ASCII: it is another encoding, not one that is damaged. */
  readonly isFromStart: boolean;

  constructor(isFromStart: boolean) {
    super('not in its encoding');
    this.isFromStart = isFromStart;
  }
}

/**
 * The text of a file, without its mark, piece by piece.
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
    // A character that is cut by the end of a chunk is in neither of them.
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

/** Bytes of the longest character of UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** Whether the first byte beyond ASCII begins no character of UTF-8. */
function isWrongAtOnce(chunk: Buffer): boolean {
  const at = chunk.findIndex((byte) => byte >= 0x80);
  return at >= 0 && chunk.toString('utf8', at, at + MAX_CHARACTER_BYTES).startsWith('\uFFFD');
}

/** The same bytes in UTF-8. @throws NotInEncoding */
export async function* inUtf8(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  for await (const text of decode(chunks, encoding)) if (text !== '') yield Buffer.from(text);
}
