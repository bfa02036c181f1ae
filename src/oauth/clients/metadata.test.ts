import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeClient } from './metadata.ts';

const normalized = (given: Record<string, unknown>) => {
  const metadata = { redirect_uris: ['https://client.test/back'], ...given };
  normalizeClient(metadata, (reason) => {
    throw new Error(reason);
  });
  return metadata as Record<string, unknown>;
};

for (const [uri, type] of [
  ['https://client.test/back', 'web'],
  ['https://[2001:db8::1]:8443/back?x=%C3%A9', 'web'],
  ['http://localhost:1234/back', 'native'],
  ['http://127.0.0.1/back', 'native'],
  ['http://[::1]:80/back', 'native'],
  ['cursor://anysphere.cursor-retrieval/oauth', 'native'],
  ['com.example.app:/back', 'native'],
  ['vscode://vscode.github-authentication/did-authenticate', 'native'],
  ['com.example:javascript', 'native'],
  ['msauth.com.example.app://auth', 'native'],
  ['research://back', 'native'],
] as const)
  test(`${uri} is of a ${type} client`, () => {
    assert.equal(normalized({ redirect_uris: [uri], application_type: 'web' }).application_type, type);
    assert.equal(normalized({ redirect_uris: ['https://client.test/', uri] }).application_type, type);
  });

for (const uri of [
  ...['http://client.test/back', 'http://0.0.0.0/back', 'http://localhost.client.test/back', 'http://10.0.0.1/back'],
  ...['https://user@client.test/back', 'https://user:word@client.test/back', 'http://:x@127.0.0.1/', 'cursor://user@app/back'],
  ...['https://client.test/back#here', 'https://client.test/back#', 'cursor://app/back#'],
  ...[
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://client.test/',
  ],
  ...[
    'about:blank',
    'view-source:https://client.test/',
    'intent://x#Intent;end',
    'intent:x',
    'ftp://client.test/',
    'mailto:a@b.test',
  ],
  ...['ms-msdt:/x', 'MS-MSDT:/x', 'search-ms:query=x', 'search:x', 'shell:startup', 'ms-settings:', 'chrome-extension://x/y'],
  ...['moz-extension://x/y', 'safari-web-extension://x/y', 'resource://x', 'res://x', 'jar:https://client.test/x!/y', 'mk:@x'],
  ...['mhtml:https://client.test/', 'smb://client.test/x', 'nfs://client.test/', 'ssh://client.test', 'telnet://client.test'],
  ...['ldap://client.test', 'ldaps://client.test', 'rdp://client.test', 'vnc://client.test', 'callto:x', 'market://x'],
  ...['itms-services://?action=x', 'android-app://x/https/y'],
  ...['https:client.test', 'https:/client.test', 'https:\\\\client.test', 'client.test', '/back', '//client.test/back', ''],
  ...[
    'https://client.test/a b',
    ' https://client.test/',
    'https://client.test/\r\nX: y',
    'https://client.test/\u00e9',
    'java\tscript:x',
  ],
])
  test(`no code is sent to ${JSON.stringify(uri)} (RFC 8252 7.3, 8.4; RFC 9700 4.1.1)`, () =>
    assert.throws(
      () => normalized({ redirect_uris: ['https://client.test/back', uri] }),
      /^Error: redirect_uris: each must be https/,
    ));

test('what we do not offer is replaced by what we do', () => {
  const made = normalized({
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['token'],
    response_modes: ['form_post'],
    id_token_signed_response_alg: 'HS256',
    subject_type: 'pairwise',
  });
  assert.deepEqual(made.grant_types, ['authorization_code', 'refresh_token']);
  // The provider's defaults replace these.
  for (const name of ['response_types', 'response_modes', 'id_token_signed_response_alg', 'subject_type'])
    assert.equal(name in made, false, name);
});

test('what would be fetched or acted on is left out', () => {
  const made = normalized({
    jwks_uri: 'https://10.0.0.1/',
    sector_identifier_uri: 'https://10.0.0.1/',
    scope: 'mcp:view',
    jwks: {},
  });
  assert.deepEqual(
    Object.keys(made).filter((key) => /jwk|sector|^scope/.test(key)),
    [],
  );
});

test('a name is shown as one line without tricks', () => {
  assert.equal(normalized({ client_name: '  Good\n\u202eevil\u0000  app\u200b ' }).client_name, 'Good evil app');
  assert.equal((normalized({ client_name: 'x'.repeat(5_000) }).client_name as string).length, 200);
  assert.equal('client_name' in normalized({ client_name: '\u200b' }), false);
});

for (const [what, given] of [
  ['no redirects', { redirect_uris: undefined }],
  ['an empty list', { redirect_uris: [] }],
  ['too many', { redirect_uris: Array(21).fill('https://a.test') }],
  ['one too long', { redirect_uris: [`https://a.test/${'x'.repeat(2_000)}`] }],
  ['too much together', { redirect_uris: Array(5).fill(`https://a.test/${'x'.repeat(1_600)}`) }],
  ['one that is no text', { redirect_uris: [5] }],
] as const)
  test(`refused: ${what}`, () =>
    assert.throws(() => normalized(given as object as Record<string, unknown>), /must be 1 to 20 strings of 2000 characters/));
