import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../access/index.ts';
import type { CallerRequest } from '../../requests/index.ts';
import type { System } from '../../systems/index.ts';
import { consoleSession } from '../../users/index.ts';
import { apiPath } from '../context/addresses.ts';
import type { ConsoleCookies } from '../context/cookies.ts';

/** The sender of a file. */
interface Uploader {
  readonly appId: string;
  authenticate(system: System, callerRequest: CallerRequest): Promise<Principal>;
}

/** Takes a body that is a file, for a request whose path has the file's name as `fileName`; passed in by `app.ts`. */
export type TakeUpload = (request: FastifyRequest, reply: FastifyReply, uploader: Uploader) => Promise<void>;

/**
 * Registers `POST files/{Table}/{field}?name=`, whose body is a file. The file is attached by the later write of the record. Answers `{name, url}`.
 * Reference: files.md#upload.
 */
export function registerUploads(server: FastifyInstance, cookies: ConsoleCookies, takeUpload: TakeUpload): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // `takeUpload` reads the body, once there is room for it.
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    scope.post(`${apiPath}/:appId/files/:table/:field`, (request, reply) => {
      const { appId } = request.params as { readonly appId: string };
      request.params = { appId, fileName: (request.query as ReadonlyMap<string, string>).get('name') ?? '' };
      takeUpload(request, reply, {
        appId,
        async authenticate({ store }, callerRequest) {
          const { principal } = await consoleSession(store, cookies.sessionOf(request.headers.cookie, appId));
          return callerRequest.setCaller(principal);
        },
      });
    });
    done();
  });
}
