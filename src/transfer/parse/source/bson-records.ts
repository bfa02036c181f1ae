import { OperatorError } from '../../../kernel/operator-error.ts';

/** Maximum size of a document; MongoDB allows 16 MB. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** Size of an empty document: its length and terminator. */
const MIN_DOCUMENT_BYTES = 5;

/** Returns the documents of a mongodump file. @throws OperatorError if it is not BSON or is truncated */
export async function* bsonRecords(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Uint8Array> {
  let pieces: Buffer[] = [];
  let gathered = 0;
  let wanted = LENGTH_BYTES;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    gathered += chunk.length;
    if (gathered < wanted) continue;
    let bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    wanted = LENGTH_BYTES;
    while (bytes.length >= LENGTH_BYTES) {
      const length = bytes.readInt32LE(0);
      if (length < MIN_DOCUMENT_BYTES || length > MAX_DOCUMENT_BYTES)
        throw new OperatorError(`--from: ${name} is no BSON, or damaged`);
      if (bytes.length < length) {
        wanted = length;
        break;
      }
      yield bytes.subarray(0, length);
      bytes = bytes.subarray(length);
    }
    pieces = bytes.length > 0 ? [bytes] : [];
    gathered = bytes.length;
  }
  if (gathered > 0) throw new OperatorError(`--from: ${name} ends in the middle of a document`);
}
