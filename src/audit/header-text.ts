/** What a parameter is called that carries a secret. */
const secretName = /token|key|pass|session|secret|code|auth|credential/i;
const hidden = '***';

/**
 * Text of a client as a row may hold it: of bounded length, without NUL and lone surrogates. What is cut is copied, so that the row
 * does not keep the whole in memory.
 * @param end where the text ends that is wanted
 */
export function bounded(text: string, most: number, end = text.length): string {
  const length = Math.min(end, most);
  const cut = length === text.length ? text : Buffer.from(text.slice(0, length)).toString();
  const whole = cut.isWellFormed() ? cut : cut.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/**
 * An address without what nobody but its reader should know: `user:password@` is taken out, and values of parameters whose name smells of a
 * secret are hidden, in the fragment too.
 */
export function withoutSecrets(address: string): string {
  const open = address.includes('@') ? address.replace(/^((?:[a-z][a-z0-9+.-]*:)?[\\/]{2})?[^/\\?#]*@/i, '$1') : address;
  return open.includes('=') ? open.replace(/[^&#]+/g, withoutSecret) : open;
}

/** One parameter; the first has the path before it, and old ones stand apart by semicolons. */
function withoutSecret(part: string): string {
  for (let from = 0; ; ) {
    const equals = part.indexOf('=', from);
    if (equals < 0) return part;
    const semicolon = part.indexOf(';', equals);
    const name = part.slice(from, equals).replace(/^.*[?;/]/, '');
    const value = part.slice(equals + 1, semicolon < 0 ? part.length : semicolon);
    // A secret may hold semicolons and question marks itself: all up to the next parameter goes.
    if (secretName.test(decoded(name)) || holdsSecret(decoded(value))) return part.slice(0, equals + 1) + hidden;
    if (semicolon < 0) return part;
    from = semicolon + 1;
  }
}

/** Whether a value is an address with such a parameter itself. Not one expression: its time would be the square of a value's length. */
function holdsSecret(value: string): boolean {
  return value.split('&').some((part) => {
    const end = part.lastIndexOf('=');
    return end >= 0 && secretName.test(part.slice(0, end));
  });
}

/** Percent-encoded text, as deep as addresses travel in addresses; what cannot be decoded stays. */
function decoded(text: string): string {
  let plain = text;
  for (let depth = 0; depth < 3 && plain.includes('%'); depth++)
    plain = plain.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return plain;
}

const sessionToken = /r(?::|%3a)[0-9a-f]{32}/gi;
/** A credential that is shorter stands in too many texts by chance, and is worth too little. */
const MIN_CREDENTIAL_LENGTH = 8;

/**
 * Text without session tokens, anybody's, and without the credentials of its own request, which clients put where they do not belong.
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
