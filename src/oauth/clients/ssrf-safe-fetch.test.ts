import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { test } from 'node:test';
import { isPublic, mayBeFetched, ssrfSafeFetch } from './ssrf-safe-fetch.ts';

for (const [address, expected] of [
  ['93.184.216.34', true],
  ['2606:2800:220:1:248:1893:25c8:1946', true],
  ...[
    ...['0.0.0.0', '10.1.2.3', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
    ...[
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      '198.18.0.1',
      '203.0.113.5',
      '224.0.0.1',
      '255.255.255.255',
      '240.0.0.1',
    ],
    ...['::', '::1', '::127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', 'fe80::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
    ...['64:ff9b::a00:1', '2002:a00:1::', '2001:0:a00:1::', '2001:db8::1', '100::1', 'fec0::1', 'x', '', '1.2.3'],
  ].map((address) => [address, false] as const),
] as const)
  test(`${address || 'nothing'} is ${expected ? '' : 'not '}public`, () => assert.equal(isPublic(address), expected));

for (const [address, expected] of [
  ['https://client.example.com/metadata.json', true],
  ['https://client.example.com:8443/metadata.json', true],
  ['https://93.184.216.34/x', true],
  ...[
    ...['http://client.example.com/x', 'ftp://client.example.com/', 'file:///etc/passwd', 'nothing', ''],
    ...[
      'https://localhost/x',
      'https://intranet/x',
      'https://127.0.0.1/x',
      'https://127.1/x',
      'https://2130706433/x',
      'https://0x7f.1/',
    ],
    ...['https://[::1]/x', 'https://[::ffff:127.0.0.1]/', 'https://[fd00::1]/', 'https://169.254.169.254/latest/meta-data'],
    ...['https://a:b@client.example.com/x', 'https://client.example.com./x'],
  ].map((address) => [address, false] as const),
] as const)
  test(`${address || 'nothing'} may ${expected ? '' : 'not '}be fetched`, () => assert.equal(mayBeFetched(address), expected));

test('a name that leads to this host is not connected to', async () => {
  // A name with several labels that resolvers map to the loopback address (RFC 6761); a resolver that does not know it fails too.
  await assert.rejects(ssrfSafeFetch('https://a.localhost/x'));
  await assert.rejects(ssrfSafeFetch('https://127.0.0.1:9/x'), /not of the public internet/);
});

for (const [what, ipv4, ipv6] of [
  ['inside', ['10.0.0.1'], []],
  ['inside by IPv6', ['93.184.216.34'], ['fd00::1']],
  ['nowhere', [], []],
] as const)
  test(`a name that name servers lead ${what} is not connected to`, async (context) => {
    context.mock.method(Resolver.prototype, 'resolve4', async () => ipv4);
    context.mock.method(Resolver.prototype, 'resolve6', async () => ipv6);
    await assert.rejects(ssrfSafeFetch('https://client.example.com/x'), /does not lead to the public internet/);
  });
