/** Shared by the suites about imports over HTTP. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Row, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';

const csv = { 'content-type': 'text/csv' };

export interface Call {
  readonly query?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly session?: string;
  readonly apiKey?: string;
}

/** Sends a file. @returns status and body of the response */
export async function send(
  service: Service,
  table: string,
  content: string,
  { query = {}, headers = csv, session, apiKey }: Call = {},
) {
  const url = new URL(`${service.url}/platform/import/${table}`);
  for (const [name, value] of Object.entries(query))
    url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const credential: Record<string, string> = session
    ? { 'x-platform-session-token': session }
    : apiKey
      ? { 'x-platform-api-key': apiKey }
      : { 'x-platform-master-key': service.masterKey };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-platform-application-id': service.appId, ...credential, ...headers },
    body: content,
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** Waits for the end of a job. */
export async function ended(service: Service, job: string): Promise<Row> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { status, body } = await service.call('GET', `/platform/jobs/${job}`);
    assert.equal(status, 200);
    if (body.state !== 'running') return body;
    assert.ok(Date.now() < deadline, JSON.stringify(body));
    await wait(50);
  }
}

/** Imports a file. @returns the final state of the job, and its id */
export async function imported(service: Service, table: string, content: string, call: Call = {}): Promise<Row> {
  const { status, body } = await send(service, table, content, call);
  assert.deepEqual([status, Object.keys(body)], [202, ['job']], JSON.stringify(body));
  return { id: body.job, ...(await ended(service, body.job)) };
}

/** Returns state and progress of a job. */
export const counts = ({ state, done, of, created, updated, rejected }: Row) => [state, done, of, created, updated, rejected];

/** Returns the rejected rows of a finished job. */
export async function rejectedOf(
  service: Service,
  job: Row,
): Promise<{ line: number; code: number; error: string; row: unknown }[]> {
  const { status, text } = await service.call('GET', new URL(String(job.rejectedUrl)).pathname);
  assert.equal(status, 200);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Creates a user and signs in. */
export async function newUser(service: Service): Promise<{ session: string; id: string }> {
  const name = tableName('user');
  const { body } = await service.call('POST', '/platform/users', {
    body: { username: name, password: 'A-long-password-1', email: `${name}@example.com` },
  });
  const login = await service.call('GET', '/platform/login', { query: { username: name, password: 'A-long-password-1' } });
  return { session: login.body.sessionToken, id: body.objectId };
}
