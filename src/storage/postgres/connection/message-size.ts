import type { Duplex } from 'node:stream';

/**
 * Maximum size of a message of the server (usually one row). Far more than a record holds, but a query can build larger values, which the driver
 * would assemble in memory.
 */
export const MAX_MESSAGE_BYTES = 96 * 1024 * 1024;

/** Message type (1 byte) and length (4 bytes, including itself). */
const HEADER_BYTES = 5;

/**
 * Watches the lengths of messages as they begin to arrive.
 * @param stream positioned between two messages
 * @param onTooLarge called once, before the oversized message is assembled
 */
export function watchMessages(stream: Duplex, onTooLarge: () => void): void {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  /** Bytes that are still to come of the current message. */
  let remaining = 0;
  const scan = (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (remaining > 0) {
        const passed = Math.min(remaining, chunk.length - at);
        remaining -= passed;
        at += passed;
        continue;
      }
      const taken = chunk.copy(header, headerBytes, at, Math.min(chunk.length, at + HEADER_BYTES - headerBytes));
      headerBytes += taken;
      at += taken;
      if (headerBytes < HEADER_BYTES) return;
      headerBytes = 0;
      remaining = header.readUInt32BE(1) - 4;
      if (remaining <= MAX_MESSAGE_BYTES) continue;
      stream.off('data', scan);
      onTooLarge();
      return;
    }
  };
  stream.prependListener('data', scan);
}
