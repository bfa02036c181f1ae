import type { FastifyInstance } from 'fastify';
import { BufferedAnswers } from '../../admission/buffered-answers.ts';
import { networkOf } from '../../kernel/network.ts';
import { MAX_BYTES_IN_MEMORY } from '../endpoint/body-reader.ts';

/** Minimum length of an answer that is counted; shorter ones are within the cost of a connection. */
export const LONG_ANSWER_LENGTH = 256 * 1024;

/**
 * Limits the memory of answers that clients have not taken yet, for all routes. Must be registered before the routes. Reference:
 * requests.md#slow-clients.
 */
export function registerLongAnswers(server: FastifyInstance): void {
  const answers = new BufferedAnswers(MAX_BYTES_IN_MEMORY);
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload === 'string' && payload.length > LONG_ANSWER_LENGTH && request.method !== 'HEAD')
      answers.add(reply.raw, networkOf(request.ip ?? ''), Buffer.byteLength(payload));
    done(null, payload);
  });
}
