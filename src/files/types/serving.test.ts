import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serving } from './serving.ts';

for (const [type, disposition, sandboxed] of [
  ['image/png', 'inline', false],
  ['audio/mpeg', 'inline', false],
  ['video/mp4', 'inline', false],
  ['application/pdf', 'inline', false],
  ['text/plain', 'inline', true],
  ['text/plain; charset=utf-8', 'inline', true],
  ['text/csv; charset=utf-8', 'attachment', true],
  ['text/html; charset=utf-8', 'attachment', true],
  ['image/svg+xml', 'attachment', true],
  ['application/xml', 'attachment', true],
  ['text/xml', 'attachment', true],
  ['application/xhtml+xml', 'attachment', true],
  ['application/rss+xml', 'attachment', true],
  ['application/json', 'attachment', true],
  ['application/zip', 'attachment', true],
  ['application/octet-stream', 'attachment', true],
  ['', 'attachment', true],
] as const)
  test(`${type} is ${disposition}, ${sandboxed ? 'in' : 'without'} a sandbox`, () => {
    const served = serving(type);
    assert.equal(served.contentType, type);
    assert.equal(served.disposition, disposition);
    assert.equal(served.contentSecurityPolicy?.includes('sandbox') ?? false, sandboxed);
  });
