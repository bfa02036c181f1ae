import type { IncomingHttpHeaders } from 'node:http';
import parseRange from 'range-parser';
import type { ByteRange } from '../../files/index.ts';

/** What tells one version of a file from another. */
export interface Validators {
  /** Weak (`W/…`) where the answer may be compressed. */
  readonly etag: string;
  readonly lastModified: string;
}

/**
 * Which bytes of a file a request wants (RFC 9110, 14.2). Several ranges are answered with the whole (docs/decisions.md "Files").
 * @returns `null` for all of them; `'none'` where the file has none of those that are wanted
 */
export function wantedRange({ range, ...headers }: IncomingHttpHeaders, size: number, of: Validators): ByteRange | null | 'none' {
  if (range === undefined || !isSameVersion(headers['if-range'], of)) return null;
  const found = parseRange(size, wholeSuffix(range, size));
  if (found === -1) return range.startsWith('bytes=') ? 'none' : null;
  if (found === -2 || found.type !== 'bytes' || found.length !== 1) return null;
  return found[0] ?? null;
}

/** The last bytes of a file that has fewer are all of them, which the package does not know. */
function wholeSuffix(range: string, size: number): string {
  const length = /^bytes=\s*-(\d+)\s*$/.exec(range)?.[1];
  return length !== undefined && Number(length) > size ? 'bytes=0-' : range;
}

/** RFC 9110, 13.1.5: `If-Range` holds a strong tag, or the very date. */
function isSameVersion(ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  if (ifRange === undefined || ifRange === lastModified) return true;
  return ifRange === etag && !etag.startsWith('W/');
}
