import { createHash } from 'node:crypto';
import { foldCase } from '../kernel/case-folding.ts';
import { phoneKey } from '../kernel/phone-key.ts';
import type { UniqueForm } from './model.ts';

/** Maximum number of fields of a unique index. */
export const MAX_UNIQUE_FIELDS = 8;

/** Longer keys are replaced by a hash, so that an entry of `MAX_UNIQUE_FIELDS` keys fits into an index page of PostgreSQL (2,704 bytes). */
export const MAX_KEY_BYTES = 256;

/** Begins such a hash. Texts that begin with it are replaced too, so that none is the key of another. */
export const HASH_PREFIX = '\x01';

/** Returns the key by which a unique index compares a value; `null`: the value counts as absent. Engines compute the same keys in SQL. */
export function uniqueKey<Value extends string | number | boolean | null>(form: UniqueForm, value: Value): Value | string | null {
  return typeof value === 'string' ? uniqueTextKey(form, value) : value;
}

/** Returns the key of a text. */
export function uniqueTextKey(form: UniqueForm, value: string): string | null {
  const key = formed(form, value);
  if (key === null || key === '') return null;
  const isKept = Buffer.byteLength(key) <= MAX_KEY_BYTES && !key.startsWith(HASH_PREFIX);
  return isKept ? key : HASH_PREFIX + createHash('sha256').update(key).digest('hex');
}

function formed(form: UniqueForm, text: string): string | null {
  switch (form) {
    case 'text':
      return text;
    case 'nocase':
      return foldCase(text);
    case 'phone':
      return phoneKey(text);
  }
}
