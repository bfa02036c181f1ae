import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { networkOf } from '../../kernel/network.ts';
import { varyBy } from '../endpoint/answer.ts';

/** Bytes up to which an answer goes out as it is (CONTRACT "Operations"). */
export const MAX_PLAIN_BYTES = 1024;
/** Bytes of an answer that is compressed at once; the others are compressed off the event loop. */
const MAX_SYNC_BYTES = 16 * 1024;
/**
 * Answers that are compressed while they are sent: each has up to some MB of state for as long as its client takes. One network has half of
 * them. The others go out as they are.
 */
export const MAX_COMPRESSORS = 64;
const MAX_COMPRESSORS_PER_NETWORK = MAX_COMPRESSORS / 2;

/** Each piece of a stream goes out when it is there, and does not wait for the next one. */
const gzip = { level: 5, flush: zlib.constants.Z_SYNC_FLUSH };
/** The window is what most of the state is: with 256 KB of it answers become some percent longer than with 4 MB. */
const brotli = {
  flush: zlib.constants.BROTLI_OPERATION_FLUSH,
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: 18 },
};
const zstd = { flush: zlib.constants.ZSTD_e_flush };

/** The plugin's own, and lines of JSON. */
const compressible = /^text\/(?!event-stream)|[+/](?:json|text|xml)(?:;|$)|octet-stream(?:;|$)|^application\/x-ndjson(?:;|$)/u;

/** One object has the options of zlib and zstd alike in the plugin, and they are not the same. */
const codecs = {
  ...zlib,
  createZstdCompress: () => zlib.createZstdCompress(zstd),
  zstdCompressSync: (bytes: Buffer) => zlib.zstdCompressSync(bytes),
};

/**
 * CONTRACT "Operations": answers of more than 1 KB are compressed where `Accept-Encoding` allows. Files that are compressed already and event
 * streams are not. To be registered before the routes.
 */
export async function registerCompression(server: FastifyInstance): Promise<void> {
  server.addHook('onSend', (request, reply, payload, done) => {
    const isVarying = isVaried(payload);
    if (isVarying) varyBy(reply, 'accept-encoding');
    // The answer to a HEAD is not made to be thrown away. Where it might be compressed, its length is not known.
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
  // The plugin has put its own hook last.
  server.addHook('onRoute', (route) => {
    const hooks = [route.onSend ?? []].flat();
    const ofPlugin = hooks.pop();
    if (ofPlugin) route.onSend = [...hooks, unlessPlain(ofPlugin as onSendHookHandler, compressors)];
  });
}

/** Whether a client takes an encoding that answers have, as far as a look tells. */
export const mayBeCompressed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /zstd|br|gzip|\*/i.test(String(headers['accept-encoding'] ?? ''));

/** The plugin looks at all that may keep an answer from being compressed, which most answers are too short for. */
function unlessPlain(compressed: onSendHookHandler, compressors: Compressors): onSendHookHandler {
  return function (request, reply, payload, done) {
    if (isShort(payload) || !mayBeCompressed(request) || isEventStream(reply)) done(null, payload);
    else if (isAtOnce(payload) || compressors.take(reply.raw, networkOf(request.ip ?? '')))
      compressed.call(this, request, reply, payload, done);
    else done(null, payload);
  };
}

/** Whether the answer is never compressed and lasts. */
const isEventStream = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('text/event-stream');

/** Answers that are being compressed while they are sent, or may be. */
class Compressors {
  #count = 0;
  readonly #byNetwork = new Map<string, number>();

  /** Whether there is room for one more, which is there until its answer is over. */
  take(response: ServerResponse, network: string): boolean {
    // Of a client that is gone nothing tells again that it is.
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

/** Whether the answer is compressed in one go. */
const isAtOnce = (payload: unknown): boolean => typeof payload === 'string' && Buffer.byteLength(payload) <= MAX_SYNC_BYTES;

/** Whether the answer is another one with another `Accept-Encoding`. */
function isVaried(payload: unknown): boolean {
  return typeof payload === 'string' ? !isShort(payload) : payload instanceof Readable;
}

function isShort(payload: unknown): boolean {
  if (typeof payload !== 'string') return false;
  return payload.length <= MAX_PLAIN_BYTES / 3 || Buffer.byteLength(payload) <= MAX_PLAIN_BYTES;
}
