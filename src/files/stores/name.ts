import { randomBytes } from 'node:crypto';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';

const PREFIX_LENGTH = 33;
const prefixed = /^([0-9a-f]{32})_/;
/** Of an id, `_` and a file name whose every character is percent-encoded. */
const MAX_NAME_LENGTH = PREFIX_LENGTH + limits.fileNameLength * 12;

/** A file's id: what names it in a store, and the row of it. */
export const fileIdPattern = /^[0-9a-f]{32}$/;

/** A name from outside that may be a file's. */
export interface GivenName {
  readonly id: string;
  /** What the file's name may be: as it is, and percent-encoded, since it may have been decoded once more than the client thought. */
  readonly candidates: readonly [string, string];
}

/**
 * A new name, which nobody can guess, for a file (docs/decisions.md "Files").
 * @param fileName as the client has it; it may hold anything
 * @throws badFileName (122)
 */
export function newFileName(fileName: string): { readonly id: string; readonly name: string } {
  if (fileName === '' || isTooLong(fileName)) return fail('badFileName');
  const id = randomBytes(16).toString('hex');
  return { id, name: `${id}_${encodeName(fileName.toWellFormed())}` };
}

/** @returns `null` for what is no name of ours */
export function parseFileName(given: string): GivenName | null {
  const id = given.length > MAX_NAME_LENGTH ? undefined : prefixed.exec(given)?.[1];
  if (id === undefined) return null;
  return { id, candidates: [given, encodeName(given.toWellFormed())] };
}

/** What the client called the file, for people: control characters are replaced. */
export function fileNameOf(name: string): string {
  const encoded = name.slice(PREFIX_LENGTH);
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return decodeURIComponent(encoded).replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, '_');
  } catch {
    return encoded;
  }
}

function isTooLong(fileName: string): boolean {
  if (fileName.length <= limits.fileNameLength) return false;
  return fileName.length > 2 * limits.fileNameLength || [...fileName].length > limits.fileNameLength;
}

/** A file name with every character percent-encoded that an address cannot have as it is. */
export function encodeName(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
