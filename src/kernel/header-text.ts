/** Names of parameters that may carry a secret. */
const secretName = /token|key|pass|session|secret|code|auth|credential/i;

/** Whether what has this name may be a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);
const hidden = '***';

/**
 * Prepares text from a client for a row: truncates it and replaces NUL and lone surrogates. A truncated text is copied, so that the row does not keep
 * the whole text in memory.
 * @param end end of the wanted part of the text
 */
export function truncate(text: string, maxLength: number, end = text.length): string {
  const length = Math.min(end, maxLength);
  const cut = length === text.length ? text : Buffer.from(text.slice(0, length)).toString();
  const whole = cut.isWellFormed() ? cut : cut.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/**
 * Removes secrets from an address: the credentials before the host (`user:password@`), and the values of parameters with a suspicious name, in the
 * fragment too.
 */
export function withoutSecrets(address: string): string {
  const open = address.includes('@') ? address.replace(/^((?:[a-z][a-z0-9+.-]*:)?[\\/]{2})?[^/\\?#]*@/i, '$1') : address;
  return open.includes('=') ? open.replace(/[^&#]+/g, withoutSecret) : open;
}

/** Handles one parameter. The first one has the path before it; older parameters may be separated by semicolons. */
function withoutSecret(part: string): string {
  for (let from = 0; ; ) {
    const equals = part.indexOf('=', from);
    if (equals < 0) return part;
    const semicolon = part.indexOf(';', equals);
    const name = part.slice(from, equals).replace(/^.*[?;/]/, '');
    const value = part.slice(equals + 1, semicolon < 0 ? part.length : semicolon);
    // A secret may itself contain semicolons and question marks, so hide everything up to the next `&`.
    if (secretName.test(decoded(name)) || holdsSecret(decoded(value))) return part.slice(0, equals + 1) + hidden;
    if (semicolon < 0) return part;
    from = semicolon + 1;
  }
}

/**
 * Returns whether a value is itself an address with a secret parameter. Not a single regular expression, because its time would be quadratic in the
 * length of the value.
 */
function holdsSecret(value: string): boolean {
  return value.split('&').some((part) => {
    const end = part.lastIndexOf('=');
    return end >= 0 && secretName.test(part.slice(0, end));
  });
}

/** Decodes percent-encoding up to three times, because addresses are nested in addresses; invalid sequences stay. */
function decoded(text: string): string {
  let plain = text;
  for (let depth = 0; depth < 3 && plain.includes('%'); depth++)
    plain = plain.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return plain;
}

const sessionToken = /r(?::|%3a)[0-9a-f]{32}/gi;
/** Shorter credentials occur in ordinary text by chance, and are worth too little. */
const MIN_CREDENTIAL_LENGTH = 8;

/**
 * Removes session tokens of any user, and the credentials of the request itself, which clients sometimes send in the wrong place.
 * @param credentials as they were sent
 */
export function withoutCredentials(text: string, credentials: readonly string[]): string {
  let clean = text.replace(sessionToken, hidden);
  for (const credential of credentials) {
    if (credential.length < MIN_CREDENTIAL_LENGTH) continue;
    clean = clean.replaceAll(credential, hidden);
    if (clean.includes('%')) clean = clean.replaceAll(encodeURIComponent(credential.toWellFormed()), hidden);
  }
  return clean;
}
