import { agentPermissions, isAgentPermission } from '../access/index.ts';

type Parameters = Record<string, string | string[] | undefined>;

/** Parameters of OpenID Connect, which are ignored as unknown (RFC 6749, 3.1). */
const ignoredParameters: readonly string[] = [
  ...['acr_values', 'claims_locales', 'display', 'id_token_hint', 'max_age', 'nonce'],
];

/**
 * Normalizes the parameters of an authorization request for the provider. A request without any of our permissions gets all: many clients omit
 * `scope`, and the user decides anyway.
 */
export function normalizeRequest(sent: Parameters): Parameters {
  const parameters: Parameters = Object.fromEntries(Object.entries(sent).filter(([name]) => !ignoredParameters.includes(name)));
  // A repeated `scope` is refused by the provider.
  if (!Array.isArray(parameters.scope)) {
    const requested = (parameters.scope ?? '').split(' ').filter(isAgentPermission);
    parameters.scope = (requested.length > 0 ? requested : agentPermissions).join(' ');
  }
  // Prevents the provider's other response modes, which answer with a page of their own.
  if (parameters.response_mode !== undefined && parameters.response_mode !== 'query') parameters.response_mode = 'unsupported';
  return parameters;
}
