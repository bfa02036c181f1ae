import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { networkOf } from '../../kernel/network.ts';
import { varyBy } from '../endpoint/answer.ts';

/** Maximum size of an answer that is sent uncompressed. Reference: requests.md#compression. */
export const MAX_PLAIN_BYTES = 1024;
/** Maximum size of an answer that is compressed synchronously; larger ones are compressed off the event loop. */
const MAX_SYNC_BYTES = 16 * 1024;
/**
 * Maximum number of answers that are compressed while streaming: each keeps up to some MB of state for as long as its client reads. One network may
 * use half of them. Further answers are sent uncompressed.
 */
export const MAX_COMPRESSORS = 64;
export const MAX_COMPRESSORS_PER_NETWORK = MAX_COMPRESSORS / 2;

/** Flushes each piece of a stream when it is available instead of waiting for the next one. */
const gzip = { level: 5, flush: zlib.constants.Z_SYNC_FLUSH };
/** The window makes up most of the state: with 256 KB, answers are a few per cent longer than with 4 MB. */
const brotli = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: 18 },
};
const zstd = { flush: zlib.constants.ZSTD_e_flush };

/** The plugin's default types, and lines of JSON. */
const compressible = /^text\/(?!event-stream)|[+/](?:json|text|xml)(?:;|$)|octet-stream(?:;|$)|^application\/x-ndjson(?:;|$)/u;

/** The plugin passes one options object to both zlib and zstd, whose options differ. */
const codecs = {
  ...zlib,
  createZstdCompress: () => zlib.createZstdCompress(zstd),
  zstdCompressSync: (bytes: Buffer) => zlib.zstdCompressSync(bytes),
};

/**
 * Registers the compression of answers larger than 1 KB. Files in compressed formats and event streams are excluded. Must be registered before the
 * routes. Reference: requests.md#compression.
 */
export async function registerCompression(server: FastifyInstance): Promise<void> {
  server.addHook('onSend', (request, reply, payload, done) => {
    const isVarying = isVaried(payload);
    if (isVarying) varyBy(reply, 'accept-encoding');
    // Do not produce the body of a HEAD. If it might be compressed, its length is unknown.
    if (request.method === 'HEAD' && (payload instanceof Readable || (isVarying && mayBeCompressed(request)))) {
      if (payload instanceof Readable) payload.destroy();
      done(null, Readable.from([]));
    } else done(null, payload);
  });
  await server.register(compress, {
    encodings: ['zstd', 'br', 'gzip'],
    customTypes: compressible,
    globalDecompression: false,
    threshold: MAX_PLAIN_BYTES + 1,
    syncThreshold: MAX_SYNC_BYTES,
    zlib: codecs,
    zlibOptions: gzip,
    brotliOptions: brotli,
  });
  const compressors = new Compressors();
  // The plugin has appended its own hook; wrap it.
  server.addHook('onRoute', (route) => {
    const hooks = [route.onSend ?? []].flat();
    const ofPlugin = hooks.pop();
    if (ofPlugin) route.onSend = [...hooks, skipUncompressible(ofPlugin as onSendHookHandler, compressors)];
  });
}

/** Whether a client seems to accept an encoding that we offer (a superficial check). */
export const mayBeCompressed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /zstd|br|gzip|\*/i.test(String(headers['accept-encoding'] ?? ''));

/** Wraps the plugin's hook to skip its checks for answers that are never compressed; most are too short. */
function skipUncompressible(compress: onSendHookHandler, compressors: Compressors): onSendHookHandler {
  return function (request, reply, payload, done) {
    if (isShort(payload) || !mayBeCompressed(request) || isEventStream(reply)) done(null, payload);
    else if (isSync(payload) || compressors.take(reply.raw, networkOf(request.ip ?? '')))
      compress.call(this, request, reply, payload, done);
    else done(null, payload);
  };
}

/** Whether the answer is an event stream, which is never compressed. */
const isEventStream = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('text/event-stream');

/** Counts the answers that are compressed while streaming. */
class Compressors {
  #count = 0;
  readonly #byNetwork = new Map<string, number>();

  /** Takes a slot until the answer is over. @returns whether one was free */
  take(response: ServerResponse, network: string): boolean {
    // A closed response emits no further `close` event that would free the slot.
    if (response.destroyed || response.closed) return false;
    if (this.#count >= MAX_COMPRESSORS || this.#of(network) >= MAX_COMPRESSORS_PER_NETWORK) return false;
    this.#add(network, 1);
    response.once('close', () => this.#add(network, -1));
    return true;
  }

  #of(network: string): number {
    return this.#byNetwork.get(network) ?? 0;
  }

  #add(network: string, more: 1 | -1): void {
    this.#count += more;
    const count = this.#of(network) + more;
    if (count > 0) this.#byNetwork.set(network, count);
    else this.#byNetwork.delete(network);
  }
}

/** Whether the answer is compressed synchronously. */
const isSync = (payload: unknown): boolean => typeof payload === 'string' && Buffer.byteLength(payload) <= MAX_SYNC_BYTES;

/** Whether the answer depends on `Accept-Encoding`. */
function isVaried(payload: unknown): boolean {
  return typeof payload === 'string' ? !isShort(payload) : payload instanceof Readable;
}

function isShort(payload: unknown): boolean {
  // A character has one to three bytes. Of long texts, the bytes are not counted.
  if (typeof payload !== 'string' || payload.length > MAX_PLAIN_BYTES) return false;
  return payload.length <= MAX_PLAIN_BYTES / 3 || Buffer.byteLength(payload) <= MAX_PLAIN_BYTES;
}
