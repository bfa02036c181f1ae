import type { Json } from '../../support/oracle.ts';

/** The table of the requests, and the target of its Pointers. */
export const MAIN = 'MainTable';
export const OTHER = 'OtherTable';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the prefix. */
  path: string;
  /** For GET: its parameters. */
  body?: Json;
  /** With a user's session instead of the master key. */
  byUser?: boolean;
}

export const classPath = (table: string, id?: string): string =>
  `classes/${table}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** Returns a batch of writes. */
export const batchOf = (items: readonly Request[]): Request => ({
  method: 'POST',
  path: 'batch',
  body: {
    requests: items.map(({ method, path, body }) => ({ method, path: `/platform/${path}`, ...(body !== undefined && { body }) })),
  },
});

/** Returns JSON text; unlike JSON.stringify's, it keeps -0. */
export function jsonText(value: unknown): string {
  const mark = '\u0002-0\u0002';
  const written = JSON.stringify(value, (_key, one) => (Object.is(one, -0) ? mark : one));
  return written.replaceAll(JSON.stringify(mark), '-0');
}
