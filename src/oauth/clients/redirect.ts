const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Schemes that do not belong to a single program: the browser or operating system would run, display, fetch or forward such a URL. */
const blockedSchemes: ReadonlySet<string> = new Set([
  ...['javascript', 'vbscript', 'data', 'blob', 'file', 'filesystem', 'about', 'view-source', 'chrome', 'intent', 'android-app'],
  ...['ftp', 'ws', 'wss', 'mailto', 'tel', 'sms', 'callto', 'facetime', 'facetime-audio', 'market', 'itms', 'itms-apps'],
  ...['itms-services', 'smb', 'nfs', 'ssh', 'telnet', 'ldap', 'ldaps', 'rdp', 'vnc', 'search', 'search-ms', 'shell', 'resource'],
  ...['res', 'jar', 'mk', 'mhtml', 'applescript', 'x-man-page'],
]);
/** Protocol handlers of Windows, which accept commands, and pages of browser extensions. */
const blockedPatterns = /^ms-|-extension$/;

/** Characters of a URL (RFC 3986), except `#`. */
const uriCharacters = /^[\w:/?[\]@!$&'()*+,;=.~%-]+$/;

/** Error text for a refused redirect URI. */
export const REDIRECT_FORM =
  "each must be https, http of localhost, 127.0.0.1 or [::1], or of a scheme of the program's own; without user, fragment and spaces";

/**
 * Returns the kind of client that may receive a code at a redirect URI (RFC 8252 7; RFC 9700 4.1.1): `native` is a program on the user's device,
 * which the provider must know.
 * @returns `null` for a URI that must not receive codes, because others could read them or a browser would run the URI
 */
export function kindOfRedirect(uri: string): 'web' | 'native' | null {
  const url = URL.parse(uri);
  // The URL parser ignores control characters, which would end up in the `Location` header.
  if (!url || !uriCharacters.test(uri) || url.username !== '' || url.password !== '') return null;
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http')
    return blockedSchemes.has(scheme) || blockedPatterns.test(scheme) ? null : 'native';
  // Only browsers understand `https:host`.
  if (!uri.slice(scheme.length).startsWith('://')) return null;
  if (scheme === 'https') return 'web';
  return loopbacks.has(url.hostname) ? 'native' : null;
}
