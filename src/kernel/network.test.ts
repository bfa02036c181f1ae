import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './network.ts';

for (const [address, network] of [
  ['203.0.113.9', '203.0.113.9'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:cb00:7109', '203.0.113.9'],
  ['[::ffff:203.0.113.9]:80', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::1', '2001:db8:1:2'],
  ['2001:db8:1:2::192.0.2.1', '2001:db8:1:2'],
  ['[2001:db8:1:2::7]', '2001:db8:1:2'],
  ['[2001:db8:1:2::7]:443', '2001:db8:1:2'],
  ['2001:db8:1:3::7', '2001:db8:1:3'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0.7-x', 'fe80:0:0:0'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['1', 'unknown'],
  ['0x7f.1', 'unknown'],
  ['010.0.0.1', 'unknown'],
  ['203.0.113.9:x', 'unknown'],
  ['[203.0.113.9]', 'unknown'],
  ['2001:db8::g', 'unknown'],
  ['x'.repeat(60_000), 'unknown'],
] as const)
  test(`network of ${address.slice(0, 40)}`, () => assert.equal(networkOf(address), network));
