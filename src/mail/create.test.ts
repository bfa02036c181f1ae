import assert from 'node:assert/strict';
import { test } from 'node:test';
import { senderFor } from './create.ts';

for (const [baseUrl, sender] of [
  [undefined, 'no-reply@localhost'],
  ['https://crm.example.com:8443/a', 'no-reply@crm.example.com'],
  ['http://127.0.0.1:8080', 'no-reply@localhost'],
  ['http://[::1]:8080', 'no-reply@localhost'],
] as const)
  test(`the sender at ${baseUrl}`, () => assert.equal(senderFor(baseUrl), sender));
