import type { FastifyInstance } from 'fastify';
import { BufferedAnswers } from '../../admission/buffered-answers.ts';
import { networkOf } from '../../kernel/network.ts';
import { MAX_BYTES_IN_MEMORY } from '../endpoint/body-reader.ts';

/** Characters from which on an answer counts; shorter ones are what a connection may cost. */
const LONG_ANSWER_LENGTH = 256 * 1024;

/** Bounds the answers that are in memory whole until their clients take them, of every route. To be registered before the routes. */
export function registerLongAnswers(server: FastifyInstance): void {
  const answers = new BufferedAnswers(MAX_BYTES_IN_MEMORY);
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload === 'string' && payload.length > LONG_ANSWER_LENGTH && request.method !== 'HEAD')
      answers.add(reply.raw, networkOf(request.ip ?? ''), Buffer.byteLength(payload));
    done(null, payload);
  });
}
