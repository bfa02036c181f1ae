import type { FastifyReply, FastifyRequest } from 'fastify';
import { ICON, icon } from './icon.ts';
import type { BuildState } from './program-build.ts';

/** File names contain a hash of the content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Answers with a file of the program, in an encoding that was prepared at build time. */
export function sendAsset(program: BuildState, request: FastifyRequest, reply: FastifyReply): void {
  const { name } = request.params as { readonly name: string };
  const file = name === ICON ? icon : typeof program === 'string' ? undefined : program.files.get(name);
  if (!file) {
    // Not cached: the file may belong to another build, or not be built yet.
    reply.code(404).headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).send('not found');
    return;
  }
  const accepted = request.headers['accept-encoding'] ?? '';
  const [encoding, bytes] =
    file.br && /\bbr\b/.test(accepted)
      ? ['br', file.br]
      : file.gzip && /\bgzip\b/.test(accepted)
        ? ['gzip', file.gzip]
        : [undefined, file.plain];
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  reply
    .headers({
      'content-type': file.contentType,
      'cache-control': IMMUTABLE,
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    })
    .send(bytes);
}
