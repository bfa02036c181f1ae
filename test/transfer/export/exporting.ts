/** Shared by the export suites. */
import assert from 'node:assert/strict';
import type { CallOptions, Service } from '../../support/service.ts';

/** The response of an export over HTTP. */
export interface Exported {
  status: number;
  headers: Headers;
  text: string;
}

/** Returns the headers that identify a caller, as `Service.call` sends them. */
export function headersOf(service: Service, { as = 'master', session, headers = {} }: CallOptions = {}): Record<string, string> {
  const sent: Record<string, string> = { 'X-Platform-Application-Id': service.appId, ...headers };
  if (session !== undefined) sent['X-Platform-Session-Token'] = session;
  else if (as === 'master') sent['X-Platform-Master-Key'] = service.masterKey;
  else if (as === 'apiKey') sent['X-Platform-API-Key'] = service.apiKey;
  return sent;
}

export function addressOf(service: Service, table: string, query: Record<string, unknown> = {}): URL {
  const address = new URL(`/platform/export/${table}`, service.url);
  for (const [name, value] of Object.entries(query))
    address.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return address;
}

/** Exports a table and asserts 200. A byte order mark is kept. */
export async function exported(
  service: Service,
  table: string,
  query: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<Exported> {
  const response = await fetch(addressOf(service, table, query), { headers: headersOf(service, options) });
  const text = Buffer.from(await response.arrayBuffer()).toString();
  assert.equal(response.status, 200, text.slice(0, 500));
  return { status: response.status, headers: response.headers, text };
}

/** Parses CSV that has no quotes. @returns its rows, header first */
export const cellsOf = (text: string): string[][] =>
  text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split(','));
