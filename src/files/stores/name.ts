import { randomBytes } from 'node:crypto';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';

const PREFIX_LENGTH = 33;
const prefixed = /^([0-9a-f]{32})_/;
/** An id, `_`, and a file name in which every character is percent-encoded. */
const MAX_NAME_LENGTH = PREFIX_LENGTH + limits.fileNameLength * 12;

/** A file's id, which identifies its bytes in a store and its row. */
export const fileIdPattern = /^[0-9a-f]{32}$/;

/** A name from a client that may be that of a file. */
export interface GivenName {
  readonly id: string;
  /** Possible names of the file: as given, and percent-encoded, because the name may have been decoded once too often. */
  readonly candidates: readonly [string, string];
}

/**
 * Generates an unguessable name for a file (files.md#upload).
 * @param fileName as sent by the client; may contain any characters
 * @throws badFileName (122)
 */
export function newFileName(fileName: string): { readonly id: string; readonly name: string } {
  if (fileName === '' || isTooLong(fileName)) return fail('badFileName');
  const id = randomBytes(16).toString('hex');
  return { id, name: `${id}_${encodeName(fileName.toWellFormed())}` };
}

/** @returns `null` if it does not have the form of our names */
export function parseFileName(given: string): GivenName | null {
  const id = given.length > MAX_NAME_LENGTH ? undefined : prefixed.exec(given)?.[1];
  if (id === undefined) return null;
  return { id, candidates: [given, encodeName(given.toWellFormed())] };
}

/** Returns the client's name of the file for display, with control characters replaced. */
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

/** Percent-encodes every character of a file name that may not stand in an address. */
export function encodeName(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
