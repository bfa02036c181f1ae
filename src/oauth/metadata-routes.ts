import type { FastifyInstance, FastifyReply } from 'fastify';
import { serviceError } from '../errors/fail.ts';
import { renderError } from '../errors/render.ts';
import type { JsonObject } from '../kernel/json.ts';
import { withSystem } from '../requests/index.ts';
import type { System, Systems } from '../systems/index.ts';
import { addressesOf, type IssuerAddresses, mountOf } from './addresses.ts';
import { openidMetadata, resourceMetadata, serverMetadata } from './metadata.ts';

interface MetadataParts {
  readonly systems: Systems;
  readonly baseUrl: () => string;
}

type Describe = (addresses: IssuerAddresses, system: System) => JsonObject;

const describeResource: Describe = (addresses, { name }) => resourceMetadata(addresses, name);

const jsonType = 'application/json; charset=utf-8';

/**
 * The documents by which clients find their way: where RFC 8414 and RFC 9728 have them, before the path of what they tell of, and where
 * OpenID Connect has them, behind it.
 */
export function registerMetadata(server: FastifyInstance, parts: MetadataParts): void {
  const named = (kind: 'oauth' | 'mcp', path: string): string | undefined => {
    const { pathname } = new URL(parts.baseUrl());
    const base = pathname.replace(/\/$/, '');
    const [, what, appId, ...rest] = (path.startsWith(`${base}/`) ? path.slice(base.length) : path).split('/');
    return what === kind && rest.length === 0 ? appId : undefined;
  };
  const before = (name: string, kind: 'oauth' | 'mcp', describe: Describe) =>
    server.get(`/.well-known/${name}/*`, (request, reply) => {
      const path = `/${(request.params as { readonly '*': string })['*']}`;
      return answer(parts, reply, named(kind, path), describe);
    });
  const behind = (name: string, describe: Describe) =>
    server.get(`${mountOf(':appId')}/.well-known/${name}`, (request, reply) =>
      answer(parts, reply, (request.params as { readonly appId: string }).appId, describe),
    );
  before('oauth-authorization-server', 'oauth', serverMetadata);
  before('openid-configuration', 'oauth', openidMetadata);
  before('oauth-protected-resource', 'mcp', describeResource);
  behind('oauth-authorization-server', serverMetadata);
  behind('openid-configuration', openidMetadata);
}

async function answer(
  { systems, baseUrl }: MetadataParts,
  reply: FastifyReply,
  appId: string | undefined,
  describe: Describe,
): Promise<void> {
  const document = await withSystem(systems, appId, async (system) => describe(addressesOf(baseUrl(), system.appId), system));
  reply.type(jsonType);
  if (document) reply.header('cache-control', 'public, max-age=300').send(JSON.stringify(document));
  else reply.code(404).send(renderError(serviceError('notFound')).json);
}
