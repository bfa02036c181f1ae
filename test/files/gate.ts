/** Checks of answers to private files (files.md#private-files). */
import assert from 'node:assert/strict';
import { type Asked, ask, type Got } from '../support/files.ts';
import type { Service } from '../support/service.ts';

/** Asserts a redirect to the sign-in gate, with the whole address to return to (console.md#the-gate). */
export async function assertGate({ url: base }: Service, url: string, asked: Asked = {}): Promise<void> {
  const { status, headers, text } = await ask(url, asked);
  assert.equal(status, 302, `${url}: ${text.slice(0, 200)}`);
  const location = new URL(headers.location ?? '');
  assert.equal(location.origin + location.pathname, `${base}/console/sign-in`);
  assert.equal(location.searchParams.get('returnTo'), url);
  assertNotKept({ headers });
}

/** Asserts that no shared cache may store the answer. */
export const assertNotKept = ({ headers }: Pick<Got, 'headers'>): void =>
  assert.match(headers['cache-control'] ?? '', /no-store|no-cache|private/);
