import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeUrl } from './parse-request.ts';

for (const [url, address] of [
  ['/platform/classes/A?where=1#x', '/platform/classes/A?where=1'],
  ['/platform/files/a.txt', '/platform/files/a.txt'],
  ['/platform/files/100%.txt', '/platform/files/100%25.txt'],
  ['/platform/files/100%25.txt', '/platform/files/100%25.txt'],
  ['/platform/files/%', '/platform/files/%25'],
  ['/platform/files/%%41%4', '/platform/files/%25%41%254'],
  ['/platform/files/%zz%aG%Af?a=%zz', '/platform/files/%25zz%25aG%Af?a=%zz'],
  ['/platform/files/a?b=%#c', '/platform/files/a?b=%'],
  ['/static/app/5%_a%20b', '/static/app/5%25_a%20b'],
  ['/platform/classes/%zz', '/platform/classes/%zz'],
  ['/platform/files?a=%zz', '/platform/files?a=%zz'],
  ['/', '/'],
] as const)
  test(`${url} is routed as ${address}`, () => assert.equal(normalizeUrl(url), address));
