import type { Precondition, Version, Versions } from '../../records/index.ts';
import type { JsonText } from '../../storage/port.ts';
import { FramedPieces } from './framed-pieces.ts';

/** The preconditions of a request, as they were sent. */
export interface SentPreconditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export const noPreconditions: SentPreconditions = {};

/** Returns the ETag of a record: its version, and after a dot what its text depends on besides. Reference: records.md#versions. */
export function entityTag({ updatedAt, view }: Version): string {
  return view === null ? `"${updatedAt.toString(36)}"` : `"${updatedAt.toString(36)}.${view}"`;
}

/** One member of a list of ETags (RFC 9110, 8.8.3), and what may stand before the next one. */
const member = /\s*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y;

/** An ETag of a list; `opaque` with its quotes. */
interface EntityTag {
  readonly isWeak: boolean;
  readonly opaque: string;
}

/** Parses a list of ETags; an empty list if any of it is not one. */
function parseTags(header: string): readonly EntityTag[] {
  const tags: EntityTag[] = [];
  member.lastIndex = 0;
  while (member.lastIndex < header.length) {
    const found = member.exec(header);
    if (!found) return [];
    tags.push({ isWeak: found[1] !== undefined, opaque: found[2] as string });
  }
  return tags;
}

/** The version in an ETag that `entityTag` made. */
const version = /^"(-?[0-9a-z]{1,11})(?:\.[\w-]*)?"$/;

function versionOf({ isWeak, opaque }: EntityTag): readonly number[] {
  const text = isWeak ? undefined : version.exec(opaque)?.[1];
  const updatedAt = text === undefined ? Number.NaN : Number.parseInt(text, 36);
  return updatedAt.toString(36) === text ? [updatedAt] : [];
}

/** Returns the versions that a header names; those that are no strong ETag of ours match no record. */
const versionsOf = (header: string): Versions => (header.trim() === '*' ? 'any' : parseTags(header).flatMap(versionOf));

/** Returns the precondition of an update or delete; `undefined` if there is none. Reference: records.md#conditional-writes. */
export function preconditionOf({ ifMatch, ifNoneMatch }: SentPreconditions): Precondition | undefined {
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return {
    ...(ifMatch !== undefined && { ifMatch: versionsOf(ifMatch) }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch: versionsOf(ifNoneMatch) }),
  };
}

/** What `If-None-Match` asks of a create: no record with its objectId; nothing; or it is malformed, and no record is made. */
export function createCondition({ ifNoneMatch }: SentPreconditions): 'new' | 'none' | 'malformed' {
  if (ifNoneMatch === undefined) return 'none';
  if (ifNoneMatch.trim() === '*') return 'new';
  const tags = parseTags(ifNoneMatch);
  return tags.length > 0 && tags.every(({ isWeak }) => !isWeak) ? 'none' : 'malformed';
}

/** Whether a client that sent `If-None-Match` has the representation with this ETag. Proxies that compress make ETags weak. */
export function isUnmodified({ ifNoneMatch }: SentPreconditions, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || parseTags(ifNoneMatch).some(({ opaque }) => opaque === etag);
}

/** The beginning of a record's text: objectId and dates come first (records.md#read). */
const beginning = /^\{"objectId":"(?:[^"\\]|\\.)*","createdAt":"[^"]{20,30}","updatedAt":"([^"]{20,30})"/;
const MAX_BEGINNING_LENGTH = 4_096;

/** Returns a record's `updatedAt`, in milliseconds since 1970, by the beginning of its text; `null` if that is unusually long. */
export function updatedAtOf(text: string): number | null {
  const found = beginning.exec(text);
  return found ? Date.parse(found[1] as string) : null;
}

/** Returns enough of a text to know its record's version, and the whole text. */
export async function withBeginning(text: JsonText): Promise<{ readonly beginning: string; readonly text: JsonText }> {
  if (typeof text === 'string') return { beginning: text, text };
  const pieces = text[Symbol.asyncIterator]();
  let read = '';
  while (read.length < MAX_BEGINNING_LENGTH) {
    const piece = await pieces.next();
    if (piece.done) return { beginning: read, text: read };
    read += piece.value;
  }
  return { beginning: read, text: new FramedPieces(read, { [Symbol.asyncIterator]: () => pieces }, '') };
}
