/** An address of the console below its root. Reference: console.md#addresses-of-the-console. */
export type Address =
  | { readonly kind: 'start' }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'home'; readonly appId: string }
  | { readonly kind: 'page'; readonly appId: string; readonly page: string }
  | { readonly kind: 'grid'; readonly appId: string; readonly table: string }
  | { readonly kind: 'new'; readonly appId: string; readonly table: string }
  | { readonly kind: 'record'; readonly appId: string; readonly table: string; readonly objectId: string }
  | { readonly kind: 'unknown'; readonly appId: string | null };

/**
 * Parses a path of the browser.
 * @param path as of `location.pathname`: percent-encoded, with the root.
 */
export function parseAddress(root: string, path: string): Address {
  if (path !== root && !path.startsWith(`${root}/`)) return { kind: 'unknown', appId: null };
  const parts = path.slice(root.length).split('/').slice(1).map(decode);
  if (parts.at(-1) === '') parts.pop();
  const [appId, table, last] = parts;
  if (appId === undefined) return { kind: 'start' };
  if (parts.length > 3 || parts.includes(null) || appId === null) return { kind: 'unknown', appId };
  if (appId === 'sign-in') return { kind: 'sign-in' };
  if (table === undefined || table === null) return { kind: 'home', appId };
  if (table === '-') return last ? { kind: 'page', appId, page: last } : { kind: 'unknown', appId };
  if (last === undefined || last === null) return { kind: 'grid', appId, table };
  return last === 'new' ? { kind: 'new', appId, table } : { kind: 'record', appId, table, objectId: last };
}

/** Addresses of a system's pages. */
export interface Paths {
  readonly home: string;
  page(name: string): string;
  grid(table: string, where?: object): string;
  newRecord(table: string): string;
  record(table: string, objectId: string): string;
}

/** Returns the addresses of the system `appId`. */
export function pathsOf(root: string, appId: string): Paths {
  const home = `${root}/${encodeURIComponent(appId)}/`;
  return {
    home,
    page: (name) => `${home}-/${name}`,
    grid: (table, where) =>
      `${home}${encodeURIComponent(table)}${where ? `?where=${encodeURIComponent(JSON.stringify(where))}` : ''}`,
    newRecord: (table) => `${home}${encodeURIComponent(table)}/new`,
    record: (table, objectId) => `${home}${encodeURIComponent(table)}/${encodeURIComponent(objectId)}`,
  };
}

/** Decodes a part of a path; `null` if it is not decodable, as `%E0%A4%A`. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
