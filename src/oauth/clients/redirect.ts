const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Schemes that are no program's own: a browser or the system runs, shows, fetches or hands on what they say. */
const taken: ReadonlySet<string> = new Set([
  ...['javascript', 'vbscript', 'data', 'blob', 'file', 'filesystem', 'about', 'view-source', 'chrome', 'intent', 'android-app'],
  ...['ftp', 'ws', 'wss', 'mailto', 'tel', 'sms', 'callto', 'facetime', 'facetime-audio', 'market', 'itms', 'itms-apps'],
  ...['itms-services', 'smb', 'nfs', 'ssh', 'telnet', 'ldap', 'ldaps', 'rdp', 'vnc', 'search', 'search-ms', 'shell', 'resource'],
  ...['res', 'jar', 'mk', 'mhtml', 'applescript', 'x-man-page'],
]);
/** Handlers of Windows, which take commands, and pages of extensions. */
const takenForms = /^ms-|-extension$/;

/** What an address is written with (RFC 3986), but for a fragment. */
const plain = /^[\w:/?[\]@!$&'()*+,;=.~%-]+$/;

/** What is told of an address that is refused. */
export const REDIRECT_FORM =
  "each must be https, http of localhost, 127.0.0.1 or [::1], or of a scheme of the program's own; without user, fragment and spaces";

/**
 * What kind of client a code may be sent to (RFC 8252 7; RFC 9700 4.1.1): `native` is a program on the user's own device, which the provider
 * has to know.
 * @returns `null` for an address that no code is sent to: anybody on the way could read it, or it would run in the browser
 */
export function kindOfRedirect(uri: string): 'web' | 'native' | null {
  const url = URL.parse(uri);
  // The parser passes over control characters, which would stand in the header.
  if (!url || !plain.test(uri) || url.username !== '' || url.password !== '') return null;
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http') return taken.has(scheme) || takenForms.test(scheme) ? null : 'native';
  // `https:host` is one to browsers alone.
  if (!uri.slice(scheme.length).startsWith('://')) return null;
  if (scheme === 'https') return 'web';
  return loopbacks.has(url.hostname) ? 'native' : null;
}
