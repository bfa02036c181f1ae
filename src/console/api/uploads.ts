import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../access/index.ts';
import type { CallerRequest } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { consoleSession } from '../../users/index.ts';
import { apiPath } from '../context/addresses.ts';
import type { ConsoleCookies } from '../context/cookies.ts';

/** Who sends a file. */
interface Uploader {
  readonly appId: string;
  authenticate(system: System, asked: CallerRequest): Promise<Principal>;
}

/** Takes a body whose bytes are a file, of a request whose path has the file's name as `fileName`; `app.ts` hands it over. */
export type TakeUpload = (request: FastifyRequest, reply: FastifyReply, uploader: Uploader) => Promise<void>;

/**
 * `POST files/{Table}/{field}?name=`: the bytes of a file, which the record's own write attaches then (SPEC "Files: Upload"). Answers
 * `{name, url}`.
 */
export function registerUploads(server: FastifyInstance, cookies: ConsoleCookies, takeUpload: TakeUpload): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The bytes are read when there is room for them.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.post(`${apiPath}/:appId/files/:table/:field`, (request, reply) => {
      const { appId } = request.params as { readonly appId: string };
      request.params = { appId, fileName: (request.query as ReadonlyMap<string, string>).get('name') ?? '' };
      takeUpload(request, reply, {
        appId,
        async authenticate({ store }, asked) {
          const { principal } = await consoleSession(store, cookies.sessionOf(request.headers.cookie, appId));
          return asked.setCaller(principal);
        },
      });
    });
    done();
  });
}
