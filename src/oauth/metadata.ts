import type { FastifyInstance, FastifyReply } from 'fastify';
import { agentPermissions } from '../access/index.ts';
import type { Addresses } from '../config/index.ts';
import { serviceError } from '../errors/fail.ts';
import { renderError } from '../errors/render.ts';
import type { JsonObject } from '../kernel/json.ts';
import { withSystem } from '../requests/index.ts';
import type { System, Systems } from '../systems/index.ts';
import { addressesOf, endpoints, type IssuerAddresses, mountOf } from './addresses.ts';

interface MetadataParts {
  readonly systems: Systems;
  readonly addresses: Pick<Addresses, 'base'>;
}

type Describe = (addresses: IssuerAddresses, system: System) => JsonObject;

const describeResource: Describe = (addresses, { name }) => resourceMetadata(addresses, name);

const jsonType = 'application/json; charset=utf-8';

/**
 * Registers the discovery documents at the paths of RFC 8414 and RFC 9728 (before the path of the issuer or resource) and of OpenID Connect (after
 * it). Reference: sign-in.md#issuer-and-metadata.
 */
export function registerMetadata(server: FastifyInstance, parts: MetadataParts): void {
  const named = (kind: 'oauth' | 'mcp', path: string): string | undefined => {
    const { pathname } = new URL(parts.addresses.base);
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
  { systems, addresses }: MetadataParts,
  reply: FastifyReply,
  appId: string | undefined,
  describe: Describe,
): Promise<void> {
  const document = await withSystem(systems, appId, async (system) =>
    describe(addressesOf(addresses.base, system.appId), system),
  );
  reply.type(jsonType);
  if (document) reply.header('cache-control', 'public, max-age=300').send(JSON.stringify(document));
  else reply.code(404).send(renderError(serviceError('notFound')).json);
}

const methods = ['none', 'client_secret_basic', 'client_secret_post'];

/** Returns the metadata of an issuer (RFC 8414). */
export function serverMetadata({ issuer }: IssuerAddresses): JsonObject {
  return {
    issuer,
    authorization_endpoint: issuer + endpoints.authorization,
    token_endpoint: issuer + endpoints.token,
    registration_endpoint: issuer + endpoints.registration,
    revocation_endpoint: issuer + endpoints.revocation,
    jwks_uri: issuer + endpoints.jwks,
    scopes_supported: [...agentPermissions],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    ui_locales_supported: ['he', 'en'],
  };
}

/** Returns the metadata with members that OpenID Connect clients require. No ID tokens are issued. */
export function openidMetadata(addresses: IssuerAddresses): JsonObject {
  const signing = { subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['ES256'] };
  return { ...serverMetadata(addresses), ...signing };
}

/** Returns the metadata of a system's agent tools (RFC 9728). @param name of the system */
export function resourceMetadata({ issuer, resource }: IssuerAddresses, name: string): JsonObject {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [...agentPermissions],
    bearer_methods_supported: ['header'],
    resource_name: name,
  };
}
