/** Requests of a large upload: the policy, then the form (files.md#large-uploads). */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { type At, ask, type By, credentials, type Got } from '../support/files.ts';
import { type Json, path, type Store } from '../support/records.ts';

export interface Policy {
  url: string;
  fields: Record<string, string>;
  name: string;
}

/** Allows or forbids large uploads by the Config row `allowAllFiles`. */
export async function allowLarge({ create }: Pick<Store, 'create'>, isAllowed = true): Promise<string> {
  return create('Config', { Name: 'allowAllFiles', Value: { allowAllFiles: isAllowed } });
}

/** Removes the permission, for later suites on the same service. */
export async function forbidLarge({ call, remove }: Pick<Store, 'call' | 'remove'>): Promise<void> {
  const { body } = await call('GET', path('Config'), { query: { where: { Name: 'allowAllFiles' }, keys: 'Name' } });
  for (const { objectId } of body.results as Json[]) await remove('Config', objectId);
}

/** Allows large uploads during the surrounding `describe`. */
export function useLarge(files: Pick<Store, 'call' | 'create' | 'remove'>): void {
  before(() => allowLarge(files));
  after(() => forbidLarge(files));
}

export function askPolicy(at: At, fileName: string, wanted: unknown, by: By = { as: 'apiKey' }): Promise<Got> {
  const headers = { ...credentials(at, by), 'Content-Type': 'application/json' };
  const address = `${at.url}/platform/files/signed-url-put/${encodeURIComponent(fileName)}`;
  return ask(address, { method: 'POST', headers, body: typeof wanted === 'string' ? wanted : JSON.stringify(wanted) });
}

/** Requests a policy; this must succeed. */
export async function newPolicy(at: At, fileName: string, ContentLength: number, ContentType = 'text/plain'): Promise<Policy> {
  const { status, body, text } = await askPolicy(at, fileName, { ContentType, ContentLength });
  assert.equal(status, 200, text);
  assert.deepEqual(Object.keys(body).sort(), ['fields', 'name', 'url']);
  assert.match(body.name, /^[0-9a-f]{32}_/);
  return body;
}

/** Sends the form as a browser does: every field, and the file last. Returns status and text. */
export async function sendForm(
  { url, fields }: Pick<Policy, 'url' | 'fields'>,
  bytes: string | Uint8Array,
  type = 'text/plain',
): Promise<{ status: number; text: string }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([bytes as never], { type }), 'file');
  const response = await fetch(url, { method: 'POST', body: form });
  return { status: response.status, text: await response.text() };
}

/** Sends a form; this must succeed. */
export async function upload(policy: Policy, bytes: string | Uint8Array, type?: string): Promise<void> {
  const { status, text } = await sendForm(policy, bytes, type);
  assert.equal(status, 204, text);
}
