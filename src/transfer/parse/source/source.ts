import type { JsonObject, JsonValue } from '../../../kernel/json.ts';

/** The types of Parse Server's fields. */
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

/** A field of a class of Parse Server, but for those that every class has. */
export interface ParseField {
  /** As the source spells it: another than those of `ParseType` is told of, and not taken. */
  readonly type: ParseType | (string & {});
  /** Of Pointers and Relations. */
  readonly targetClass?: string;
  /** What the field asks of values beyond its type: `required`, `defaultValue`. */
  readonly options: readonly string[];
}

/** A class of Parse Server. */
export interface ParseClass {
  readonly className: string;
  readonly fields: ReadonlyMap<string, ParseField>;
  /** Class-level permissions as they are stored; `null`: none are, which opens the class to everybody; `unknown`: the source does not tell. */
  readonly permissions: JsonObject | null | 'unknown';
  /** By name: fields and directions, or kinds, in the source's spelling. */
  readonly indexes: ReadonlyMap<string, JsonObject>;
}

/** An object of Parse Server. */
export interface ParseRecord {
  readonly objectId: string;
  /** Milliseconds since 1970; `null` where the source has none. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** Whom its ACL names, as Parse shows it; `null`: it has none, and is everybody's. */
  readonly acl: JsonObject | null;
  /** Of a user: the hash, whatever its form. */
  readonly passwordHash?: string;
  /** Of a user: whether he signs in by another service. */
  readonly hasAuthData?: boolean;
  /** Values by field, in wire form. */
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** A member of a Relation. */
export interface ParseMember {
  readonly owner: string;
  readonly member: string;
}

/** Where a system's data of Parse Server are. What it reads is the same each time, as far as the place allows. */
export interface ParseSource {
  classes(): Promise<readonly ParseClass[]>;
  /** Classes and the like that are not in the schema, by name: what Parse Server keeps for itself. */
  others(): Promise<ReadonlyMap<string, number>>;
  /** How many objects a class has, some. */
  count(className: string): Promise<number>;
  /** All objects, the same order each time. */
  records(parseClass: ParseClass): AsyncIterable<ParseRecord>;
  /** All members of a Relation; those of one owner are mostly one after the other. */
  members(className: string, field: string): AsyncIterable<ParseMember>;
  /** What an operator should know of the reading itself: that the picture is not of one moment. */
  notes(): readonly string[];
  close(): Promise<void>;
}

/** Fields of every class, and those by which Parse Server keeps what has another place here. */
export const ownFields: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/** The ACL that two lists say, as Parse shows it; `null` where there is neither. */
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

/** `_Join:users:_Role`. */
export const joinName = (className: string, field: string): string => `_Join:${field}:${className}`;
