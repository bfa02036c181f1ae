import { kindOfRedirect, REDIRECT_FORM } from './redirect.ts';

/** Bounds of what a client says of itself. */
const MAX_REDIRECTS = 20;
const MAX_REDIRECT_LENGTH = 2_000;
const MAX_REDIRECTS_LENGTH = 8_000;
const MAX_NAME_LENGTH = 200;
const MAX_TEXT_LENGTH = 1_000;

/** What a client may say of itself and we pass on. All else that the provider knows is left out: it would fetch it, or act on it. */
const texts = ['client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'software_id', 'software_version'] as const;
const leftOut = [
  ...['jwks', 'jwks_uri', 'sector_identifier_uri', 'initiate_login_uri', 'contacts', 'scope'],
  ...['default_acr_values', 'default_max_age', 'require_auth_time', 'response_modes'],
  // Of these the provider's own values stand.
  ...['response_types', 'subject_type', 'id_token_signed_response_alg'],
] as const;

/**
 * Makes of what a client registers, or says in its metadata document, what this service offers, rather than refuse it (RFC 7591, 2): clients
 * leave out that they are native, and name grants that we have not.
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
  if (typeof name === 'string') metadata.client_name = shown(name, MAX_NAME_LENGTH);
  if (metadata.client_name === '') delete metadata.client_name;
  for (const key of texts) {
    const value = metadata[key];
    if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_LENGTH) delete metadata[key];
  }
  for (const key of leftOut) delete metadata[key];
  // A document at a public address may not speak of a secret, so that this is what it means where it says nothing.
  if (isDocumentAddress(metadata.client_id) && metadata.token_endpoint_auth_method === 'client_secret_basic')
    metadata.token_endpoint_auth_method = 'none';
  metadata.application_type = kinds.includes('native') ? 'native' : 'web';
  metadata.grant_types = ['authorization_code', 'refresh_token'];
}

/** Whether a client's id is the address of a document about it, as the provider sees it. */
export const isDocumentAddress = (id: unknown): boolean => typeof id === 'string' && /^https:\/\//i.test(id);

function areRedirects(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECTS) return false;
  return (
    value.every((uri) => typeof uri === 'string' && uri.length <= MAX_REDIRECT_LENGTH) &&
    value.join('').length <= MAX_REDIRECTS_LENGTH
  );
}

/** A name as it is shown: no invisible characters, nothing that turns the text around, one line. */
function shown(text: string, length: number): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu, ' ').replace(/\s+/g, ' ');
  return [...visible].slice(0, length).join('').trim();
}
