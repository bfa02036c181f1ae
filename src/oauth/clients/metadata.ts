import { kindOfRedirect, REDIRECT_FORM } from './redirect.ts';

/** Limits of client metadata. */
export const MAX_REDIRECTS = 20;
export const MAX_REDIRECT_LENGTH = 2_000;
export const MAX_REDIRECTS_LENGTH = 8_000;
const MAX_NAME_LENGTH = 200;
const MAX_TEXT_LENGTH = 1_000;

/** Texts of a client that are kept. Others that the provider knows are dropped: it would fetch them or act on them. */
const keptTexts = ['client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'software_id', 'software_version'] as const;
const droppedKeys = [
  ...['jwks', 'jwks_uri', 'sector_identifier_uri', 'initiate_login_uri', 'contacts', 'scope'],
  ...['default_acr_values', 'default_max_age', 'require_auth_time', 'response_modes'],
  // For these the provider's defaults apply.
  ...['response_types', 'subject_type', 'id_token_signed_response_alg'],
] as const;

/**
 * Adapts the metadata that a client registers or publishes to what this service offers, rather than refusing it (RFC 7591, 2): clients do not declare
 * themselves native, and request grant types that we do not have.
 * @param metadata changed in place
 * @param refuse throws invalid_redirect_uri for a reason that begins with `redirect_uris`, else invalid_client_metadata
 */
export function normalizeClient(metadata: Record<string, unknown>, refuse: (reason: string) => never): void {
  const { redirect_uris: uris } = metadata;
  if (!areRedirects(uris))
    refuse(
      `redirect_uris must be 1 to ${MAX_REDIRECTS} strings of ${MAX_REDIRECT_LENGTH} characters at most, ${MAX_REDIRECTS_LENGTH} together`,
    );
  const kinds = uris.map((uri) => kindOfRedirect(uri) ?? refuse(`redirect_uris: ${REDIRECT_FORM}`));
  const { client_name: name } = metadata;
  if (typeof name === 'string') metadata.client_name = displayName(name, MAX_NAME_LENGTH);
  if (metadata.client_name === '') delete metadata.client_name;
  for (const key of keptTexts) {
    const value = metadata[key];
    if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_LENGTH) delete metadata[key];
  }
  for (const key of droppedKeys) delete metadata[key];
  // A public document must not rely on a secret, so a missing method means `none`.
  if (isDocumentAddress(metadata.client_id) && metadata.token_endpoint_auth_method === 'client_secret_basic')
    metadata.token_endpoint_auth_method = 'none';
  metadata.application_type = kinds.includes('native') ? 'native' : 'web';
  metadata.grant_types = ['authorization_code', 'refresh_token'];
}

/** Whether a client id is the URL of a metadata document, as the provider decides it. */
export const isDocumentAddress = (id: unknown): boolean => typeof id === 'string' && /^https:\/\//i.test(id);

function areRedirects(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECTS) return false;
  return (
    value.every((uri) => typeof uri === 'string' && uri.length <= MAX_REDIRECT_LENGTH) &&
    value.join('').length <= MAX_REDIRECTS_LENGTH
  );
}

/** Returns a name for display: without invisible and bidirectional control characters, on one line. */
function displayName(text: string, length: number): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu, ' ').replace(/\s+/g, ' ');
  return [...visible].slice(0, length).join('').trim();
}
