import type { FastifyInstance } from 'fastify';
import { limits } from '../../kernel/limits.ts';

/**
 * Bodies are read as text whatever their type says and parsed by the endpoints' own reader: Parse's clients send JSON as text/plain
 * (CONTRACT "Requests"), and what is no JSON is refused there.
 */
export function registerBodyReader(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit: limits.bodyBytes }, (_request, text, done) =>
    done(null, text),
  );
}
