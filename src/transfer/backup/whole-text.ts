import { OperatorError } from '../../kernel/operator-error.ts';

/** Bytes of a text that is read into memory: of a manifest, some hundred thousand files. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A member of an archive that is a text. @param name for messages @throws OperatorError where it is too long; what its bytes throw */
export async function wholeText(chunks: AsyncIterable<Buffer>, name: string): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) throw new OperatorError(`${name} is longer than it may be`);
    read.push(chunk);
  }
  return Buffer.concat(read).toString();
}
