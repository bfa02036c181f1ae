import type { JsonObject, JsonValue } from '../../../kernel/json.ts';

/** Field types of Parse Server. */
export type ParseType =
  | 'String'
  | 'Number'
  | 'Boolean'
  | 'Date'
  | 'Object'
  | 'Array'
  | 'Pointer'
  | 'Relation'
  | 'File'
  | 'GeoPoint'
  | 'Bytes'
  | 'Polygon';

/** A field of a Parse class other than the default ones. */
export interface ParseField {
  /** As in the source; a type outside `ParseType` is reported and not imported. */
  readonly type: ParseType | (string & {});
  /** For Pointers and Relations. */
  readonly targetClass?: string;
  /** Requirements besides the type: `required`, `defaultValue`. */
  readonly options: readonly string[];
}

/** A class of Parse Server. */
export interface ParseClass {
  readonly className: string;
  readonly fields: ReadonlyMap<string, ParseField>;
  /** Stored class-level permissions; `null` if there are none, which opens the class to everybody; `unknown` if the source does not contain them. */
  readonly permissions: JsonObject | null | 'unknown';
  /** By name: fields with directions or kinds, as in the source. */
  readonly indexes: ReadonlyMap<string, JsonObject>;
}

/** An object of Parse Server. */
export interface ParseRecord {
  readonly objectId: string;
  /** Milliseconds since 1970; `null` if missing. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** The ACL in wire form; `null` if there is none, which means public. */
  readonly acl: JsonObject | null;
  /** Password hash of a user, in any format. */
  readonly passwordHash?: string;
  /** Whether a user signs in through another service. */
  readonly hasAuthData?: boolean;
  /** Values by field, in wire form. */
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** A member of a Relation. */
export interface ParseMember {
  readonly owner: string;
  readonly member: string;
}

/** The data of a Parse Server. Repeated reads return the same data, as far as the source allows. */
export interface ParseSource {
  classes(): Promise<readonly ParseClass[]>;
  /** Numbers of objects in internal classes outside the schema, by name. */
  others(): Promise<ReadonlyMap<string, number>>;
  /** Approximate number of objects of a class. */
  count(className: string): Promise<number>;
  /** All objects, in the same order each time. */
  records(parseClass: ParseClass): AsyncIterable<ParseRecord>;
  /** All members of a Relation, mostly grouped by owner. */
  members(className: string, field: string): AsyncIterable<ParseMember>;
  /** Remarks for the operator, e.g. that reads were not consistent. */
  notes(): readonly string[];
  close(): Promise<void>;
}

/** Default fields, which every class has. */
export const ownFields: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/** Combines two lists to an ACL in wire form; `null` if both are missing. */
export function aclOf(readers: unknown, writers: unknown): JsonObject | null {
  if (!Array.isArray(readers) && !Array.isArray(writers)) return null;
  const acl = new Map<string, JsonObject>();
  const add = (list: unknown, right: 'read' | 'write') => {
    if (!Array.isArray(list)) return;
    for (const entity of list) if (typeof entity === 'string') acl.set(entity, { ...acl.get(entity), [right]: true });
  };
  add(readers, 'read');
  add(writers, 'write');
  return Object.fromEntries(acl);
}

/** Name of the join table of a Relation, such as `_Join:users:_Role`. */
export const joinName = (className: string, field: string): string => `_Join:${field}:${className}`;
