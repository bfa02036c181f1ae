import type { Json } from '../../support/oracle.ts';

/** The table that everything is asked of, and the one that its Pointers lead to. */
export const MAIN = 'MainTable';
export const OTHER = 'OtherTable';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the prefix. */
  path: string;
  /** Of a GET: its parameters. */
  body?: Json;
  /** By a user's session, not by the master key. */
  byUser?: boolean;
}

export const classPath = (table: string, id?: string): string =>
  `classes/${table}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** A batch of writes. */
export const batchOf = (items: readonly Request[]): Request => ({
  method: 'POST',
  path: 'batch',
  body: {
    requests: items.map(({ method, path, body }) => ({ method, path: `/platform/${path}`, ...(body !== undefined && { body }) })),
  },
});

/** JSON text; unlike JSON.stringify's, -0 stays what it is. */
export function jsonText(value: unknown): string {
  const mark = '\u0002-0\u0002';
  const written = JSON.stringify(value, (_key, one) => (Object.is(one, -0) ? mark : one));
  return written.replaceAll(JSON.stringify(mark), '-0');
}
