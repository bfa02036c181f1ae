import { agentPermissions, isAgentPermission } from '../access/index.ts';

type Parameters = Record<string, string | string[] | undefined>;

/** Parameters of OpenID Connect, which this is not: a server passes over what it does not know (RFC 6749, 3.1). */
const foreign: readonly string[] = [...['acr_values', 'claims_locales', 'display', 'id_token_hint', 'max_age', 'nonce']];

/**
 * The parameters of an authorization request as the provider is to see them. Who asks for none of our permissions asks for all: many
 * clients leave `scope` out, and the user decides in any case.
 */
export function normalizeRequest(sent: Parameters): Parameters {
  const parameters: Parameters = Object.fromEntries(Object.entries(sent).filter(([name]) => !foreign.includes(name)));
  // Given twice, it is refused.
  if (!Array.isArray(parameters.scope)) {
    const asked = (parameters.scope ?? '').split(' ').filter(isAgentPermission);
    parameters.scope = (asked.length > 0 ? asked : agentPermissions).join(' ');
  }
  // The provider knows modes that answer with a page of its own.
  if (parameters.response_mode !== undefined && parameters.response_mode !== 'query') parameters.response_mode = 'unsupported';
  return parameters;
}
