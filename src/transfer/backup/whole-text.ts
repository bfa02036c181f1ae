import { OperatorError } from '../../kernel/operator-error.ts';

/** Maximum size of a text read into memory; a manifest of some hundred thousand files fits. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Reads a member of an archive as text. @param name for messages @throws OperatorError if it is too long; errors of the stream */
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
