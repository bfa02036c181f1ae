/** A Pointer to a record. */
export interface Pointer<Table extends string = string> {
  readonly __type: 'Pointer';
  readonly className: Table;
  readonly objectId: string;
}

/** A Date as the service stores it. */
export interface DateValue {
  readonly __type: 'Date';
  readonly iso: string;
}

/** An uploaded file, as a File or PrivateFile field takes it. */
export interface FileValue {
  readonly __type: 'File';
  readonly name: string;
  readonly url: string;
}

/** Returns a Pointer to a record. */
export const pointer = <const Table extends string>(className: Table, objectId: string): Pointer<Table> => ({
  __type: 'Pointer',
  className,
  objectId,
});

/** Returns a Date. @throws RangeError if the value is no date */
export const date = (value: Date | string | number): DateValue => ({ __type: 'Date', iso: new Date(value).toISOString() });

/**
 * Returns a value as JSON text. A JavaScript Date becomes a Date of the service.
 * @throws TypeError for a number that JSON does not have, which would silently clear a field
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, text: unknown) {
    // Dates are texts by now.
    const raw = this[key];
    if (raw instanceof Date) return date(raw);
    if (typeof text === 'number' && !Number.isFinite(text)) throw new TypeError(`${key} is ${text}, which is no value`);
    return text;
  });
}

/** Returns a name as a segment of a path. @throws TypeError for one that would make another path */
export function segment(name: string, what: string): string {
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..') throw new TypeError(`${what} is no name`);
  return encodeURIComponent(name);
}

/** Names the state of a record: its ETag, its `updatedAt`, or the record itself as it was read, created or updated. */
export type Version = string | { readonly updatedAt?: string | undefined; readonly createdAt?: string | undefined };

const isoTime = /^\d{4,}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * Returns the ETag of a version. Its text is the time of the record's last write (records.md#versions).
 * @throws TypeError for an object without `updatedAt` and `createdAt`, and text that no header can hold
 */
export function entityTag(version: Version): string {
  const text = typeof version === 'string' ? version : (version.updatedAt ?? version.createdAt);
  if (typeof text !== 'string' || !/^[\x21-\x7e ]+$/.test(text))
    throw new TypeError('ifMatch takes an ETag, updatedAt or a record');
  return isoTime.test(text) ? `"${Date.parse(text).toString(36)}"` : text;
}

/** Returns a new id of 32 characters. `crypto.randomUUID` is missing on pages that were loaded by plain HTTP. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
