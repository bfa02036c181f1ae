import type { Duplex } from 'node:stream';

/**
 * Bytes of a message of the server, a row mostly: far more than a record holds. Queries can build larger values, which the driver would put
 * together in memory.
 */
const MAX_MESSAGE_BYTES = 96 * 1024 * 1024;

/** Type, then the length, which counts itself. */
const HEADER_BYTES = 5;

/**
 * Looks at the lengths of messages before they are there.
 * @param stream that stands between two messages
 * @param onTooLarge called once, before the message is put together
 */
export function watchMessages(stream: Duplex, onTooLarge: () => void): void {
  const header = Buffer.alloc(HEADER_BYTES);
  let known = 0;
  /** Of the message that is under way. */
  let left = 0;
  const look = (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const passed = Math.min(left, chunk.length - at);
        left -= passed;
        at += passed;
        continue;
      }
      const taken = chunk.copy(header, known, at, Math.min(chunk.length, at + HEADER_BYTES - known));
      known += taken;
      at += taken;
      if (known < HEADER_BYTES) return;
      known = 0;
      left = header.readUInt32BE(1) - 4;
      if (left <= MAX_MESSAGE_BYTES) continue;
      stream.off('data', look);
      onTooLarge();
      return;
    }
  };
  stream.prependListener('data', look);
}
