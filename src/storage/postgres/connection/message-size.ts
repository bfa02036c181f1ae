import type { Duplex } from 'node:stream';

/**
 * Bytes of a message of the server, a row mostly: far more than a record holds. Queries can build larger values, which the driver would put
 * together in memory.
 */
const LARGEST_MESSAGE = 96 * 1024 * 1024;

/** Type, then the length, which counts itself. */
const HEADER = 5;

/**
 * Looks at the lengths of messages before they are there.
 * @param stream that stands between two messages
 * @param onTooLarge called once, before the message is put together
 */
export function watchMessages(stream: Duplex, onTooLarge: () => void): void {
  const header = Buffer.alloc(HEADER);
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
      const taken = chunk.copy(header, known, at, Math.min(chunk.length, at + HEADER - known));
      known += taken;
      at += taken;
      if (known < HEADER) return;
      known = 0;
      left = header.readUInt32BE(1) - 4;
      if (left <= LARGEST_MESSAGE) continue;
      stream.off('data', look);
      onTooLarge();
      return;
    }
  };
  stream.prependListener('data', look);
}
