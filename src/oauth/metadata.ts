import { agentPermissions } from '../access/index.ts';
import type { JsonObject } from '../kernel/json.ts';
import { endpoints, type IssuerAddresses } from './addresses.ts';

const methods = ['none', 'client_secret_basic', 'client_secret_post'];

/** What an issuer offers (RFC 8414). */
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

/** The same where clients look for a provider of OpenID Connect, who refuse a document without these. No such tokens are issued. */
export function openidMetadata(addresses: IssuerAddresses): JsonObject {
  const signing = { subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['ES256'] };
  return { ...serverMetadata(addresses), ...signing };
}

/** What a system's agent tools ask for (RFC 9728). @param name the system's */
export function resourceMetadata({ issuer, resource }: IssuerAddresses, name: string): JsonObject {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [...agentPermissions],
    bearer_methods_supported: ['header'],
    resource_name: name,
  };
}
