import type { PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';

/** A Pointer in wire form. */
export interface PointerValue {
  readonly className: string;
  readonly objectId: string;
}

/** A File in wire form. `url` is untrusted: see `safeUrl`. */
export interface FileValue {
  readonly name: string;
  readonly url: string;
  readonly isPrivate: boolean;
}

/** Returns the value if it is an object, or `null`. */
export function objectOf(value: JsonValue | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

/** Returns the time of a Date in wire form. */
export function dateOf(value: JsonValue | undefined): Date | null {
  const iso = typeof value === 'string' ? value : objectOf(value)?.iso;
  if (typeof iso !== 'string') return null;
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Returns a Date in wire form. */
export function wireDate(date: Date): JsonObject {
  return { __type: 'Date', iso: date.toISOString() };
}

export function pointerOf(value: JsonValue | undefined): PointerValue | null {
  const object = objectOf(value);
  if (object?.__type !== 'Pointer') return null;
  const { className, objectId } = object;
  return typeof className === 'string' && typeof objectId === 'string' ? { className, objectId } : null;
}

export function wirePointer(className: string, objectId: string): JsonObject {
  return { __type: 'Pointer', className, objectId };
}

export function fileOf(value: JsonValue | undefined): FileValue | null {
  const object = objectOf(value);
  if (object?.__type !== 'File' || typeof object.name !== 'string') return null;
  return { name: object.name, url: typeof object.url === 'string' ? object.url : '', isPrivate: object.private === true };
}

/** Returns the name of a Pointer's record as answers give it, else a part of its id. */
export function pointerName(pointer: PointerValue, names: PointerNames): string | null {
  const table = Object.hasOwn(names, pointer.className) ? names[pointer.className] : undefined;
  const name = table && Object.hasOwn(table, pointer.objectId) ? table[pointer.objectId] : undefined;
  return name?.trim() || null;
}

/** Returns an address that is safe to link to: `http`, `https`, or of this origin; `null` for others such as `javascript:`. */
export function safeUrl(url: string, base = 'https://none.invalid'): string | null {
  try {
    const { protocol } = new URL(url, base);
    return protocol === 'http:' || protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

/**
 * Returns whether two values are the same to a user: keys in any order; absent, `null`, empty text and empty list are equal; Pointers compare by
 * target, Dates by time, Files by name.
 */
export function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}

function canonical(value: JsonValue): string {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const object = objectOf(value);
  if (!object) return JSON.stringify(value);
  const pointer = pointerOf(value);
  if (pointer) return `pointer ${JSON.stringify([pointer.className, pointer.objectId])}`;
  const date = object.__type === 'Date' ? dateOf(value) : null;
  if (date) return `date ${date.getTime()}`;
  const file = fileOf(value);
  if (file) return `file ${JSON.stringify(file.name)}`;
  const members = Object.keys(object).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(object[key] as JsonValue)}`).join()}}`;
}
