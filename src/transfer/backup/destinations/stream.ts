import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Destination, KeptBackup } from './destination.ts';

/** Writes one backup to a stream, i.e. standard output. It stores nothing that could be listed. */
export class StreamDestination implements Destination {
  readonly canBeginAgain = false;
  readonly #output: Writable;

  constructor(output: Writable) {
    this.#output = output;
  }

  async has(): Promise<boolean> {
    return false;
  }

  async write(appId: string, name: string, archive: Readable): Promise<KeptBackup> {
    let bytes = 0;
    const counted = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(archive, counted, this.#output, { end: false });
    return { appId, name, bytes, file: '-' };
  }

  async *list(): AsyncGenerator<KeptBackup> {}

  async open(): Promise<never> {
    throw new Error('nothing is kept in a stream');
  }

  async remove(): Promise<void> {}

  close(): void {}
}
