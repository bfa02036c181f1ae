import type { FastifyInstance } from 'fastify';
import { withoutMark } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

const mediaType = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

/**
 * Bodies are read as text whatever their type says and parsed by the endpoints' own reader: Parse's clients send JSON as text/plain
 * (CONTRACT "Requests"), and what is no JSON is refused there.
 */
export function registerBodyReader(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit: limits.bodyBytes }, (_request, text, done) =>
    done(null, withoutMark(text as string)),
  );
  // A type that is none says as little as no type at all; the framework would refuse it.
  server.addHook('onRequest', (request, _reply, done) => {
    const type = request.headers['content-type'];
    if (type !== undefined && !mediaType.test(type)) delete request.headers['content-type'];
    done();
  });
}
