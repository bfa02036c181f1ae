/**
 * The types that those of tables are made of, in the wire form (types.md). None of their names ends like those of a table's types. They are aliases,
 * not interfaces: only these may stand for JSON.
 */
export const prelude = `export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

/** A reference to a record. */
export type Pointer<Table extends string = string> = { __type: 'Pointer'; className: Table; objectId: string };
/** A set of records, which are found by \`$relatedTo\`. */
export type Relation<Table extends string = string> = { __type: 'Relation'; className: Table };
/** An instant: ISO 8601. */
export type DateValue = { __type: 'Date'; iso: string };
/** A stored file; \`url\` serves it. */
export type FileValue = { __type: 'File'; name: string; url: string; public?: true; private?: true };
/** Attaches an uploaded file by its stored name. */
export type FileInput = { __type: 'File'; name: string; url?: string; public?: true; private?: true };
/** Rights by user id, \`role:NAME\` or \`*\`. Empty: the record is not restricted. */
export type Acl = { [entity: string]: { read?: boolean; write?: boolean } };

/** Clears a field. */
export type Delete = { __op: 'Delete' };
/** Adds to a number. */
export type Increment = { __op: 'Increment'; amount: number };
/** Appends to an array. */
export type Add<Item> = { __op: 'Add'; objects: readonly Item[] };
/** Appends what an array lacks. */
export type AddUnique<Item> = { __op: 'AddUnique'; objects: readonly Item[] };
/** Takes elements out of an array. */
export type Remove<Item> = { __op: 'Remove'; objects: readonly Item[] };
/** Sets a value in a create, and nothing in an update. */
export type SetOnInsert<Value> = { __op: 'SetOnInsert'; amount: Value };
/** Adds members to a Relation. */
export type AddRelation<Table extends string> = { __op: 'AddRelation'; objects: readonly Pointer<Table>[] };
/** Takes members out of a Relation. */
export type RemoveRelation<Table extends string> = { __op: 'RemoveRelation'; objects: readonly Pointer<Table>[] };
/** Several changes of a Relation, in their order. */
export type RelationBatch<Table extends string> = {
  __op: 'Batch';
  ops: readonly (AddRelation<Table> | RemoveRelation<Table>)[];
};

/** What an update does to a field: a value, \`null\` or an operator. */
export type Change<Value> = Value | null | Delete | SetOnInsert<Value>;
export type NumberChange = Change<number> | Increment;
export type ArrayChange<Item> = Change<readonly Item[]> | Add<Item> | AddUnique<Item> | Remove<Item>;
export type RelationChange<Table extends string> =
  | null
  | Delete
  | Relation<Table>
  | AddRelation<Table>
  | RemoveRelation<Table>
  | RelationBatch<Table>;
/** A change of a place inside an Object or Array. */
export type PlaceChange = JsonValue | Delete | Increment | ArrayChange<JsonValue> | SetOnInsert<JsonValue>;

/** Keys beside the fields of a write. They count under a key alone. */
export type WriteFlags = {
  dontRunPlatformTriggers?: boolean;
  dontUpdatePlatformTimeline?: boolean;
  dontRunPlatformTriggersCreate?: boolean;
  dontRunPlatformTriggersUpdate?: boolean;
};

/** A search in the text index of a table. */
export type TextSearch = {
  $search: { $term: string; $language?: string; $caseSensitive?: boolean; $diacriticSensitive?: boolean };
};
/** A query in a condition. */
export type SubQuery = {
  [Table in keyof Schema]: { className: Table; where?: Schema[Table]['where']; limit?: number; skip?: number };
}[keyof Schema];
/** Values of a field of other records. */
export type SelectQuery = { query: SubQuery; key: string };
export type RelatedTo = { object: Pointer; key: string };
/** A time before or after now: \`3 days 2 hours ago\`, \`in 1 week\`. */
export type RelativeTime = { $relativeTime: string };

/** The operators that every type of field has. */
export type Equality<Value> = {
  $eq?: Value | null;
  $ne?: Value | null;
  $in?: readonly (Value | null)[];
  $nin?: readonly (Value | null)[];
  containedIn?: readonly (Value | null)[];
  notContainedIn?: readonly (Value | null)[];
  $exists?: boolean;
  $select?: SelectQuery;
  $dontSelect?: SelectQuery;
};
export type Comparison<Value> = Equality<Value> & { $lt?: Value; $lte?: Value; $gt?: Value; $gte?: Value };
export type Pattern = { $regex?: string; $options?: string };
type Not<Operators> = Operators & { $not?: Operators };

/** Conditions by type of field: a value, \`null\` for absent values, or operators that all have to hold. */
export type TextCondition = string | null | Not<Comparison<string> & Pattern & { $text?: TextSearch }>;
export type NumberCondition = number | null | Not<Comparison<number>>;
export type BooleanCondition = boolean | null | Not<Comparison<boolean>>;
export type DateCondition = DateValue | null | Not<Comparison<DateValue | RelativeTime>>;
export type PointerCondition<Table extends string> =
  | Pointer<Table>
  | null
  | Not<Equality<Pointer<Table>> & InQuery<Table>>;
export type RelationCondition<Table extends string> =
  | Pointer<Table>
  | Not<Pick<Equality<Pointer<Table>>, '$eq' | '$ne' | '$in' | '$nin'> & { $all?: readonly Pointer<Table>[] } & InQuery<Table>>;
export type FileCondition = FileInput | null | Not<Equality<FileInput>>;
export type ArrayCondition<Item> =
  | Item
  | readonly Item[]
  | null
  | Not<
      Comparison<Item | readonly Item[]> &
        Pattern & {
          $all?: readonly (Item | Pattern)[];
          $containedBy?: readonly Item[];
          $inQuery?: SubQuery;
          $notInQuery?: SubQuery;
        }
    >;
export type ObjectCondition = JsonObject | null | Not<Equality<JsonObject>>;
/** A condition on a place inside an Object. */
export type PlaceCondition = JsonValue | ArrayCondition<JsonValue>;
/** \`objectId\` also takes queries for the Pointers (\`key\`) that lead to the record. */
export type IdCondition =
  | string
  | Not<Comparison<string> & Pattern & { $inQuery?: KeyQuery; $notInQuery?: KeyQuery }>;
export type KeyQuery = SubQuery & { key: string };
export type InQuery<Table extends string> = Table extends keyof Schema
  ? { $inQuery?: TableQuery<Table>; $notInQuery?: TableQuery<Table> }
  : { $inQuery?: SubQuery; $notInQuery?: SubQuery };
export type TableQuery<Table extends keyof Schema> = Extract<SubQuery, { className: Table }>;

/** Conditions on fields of the record that a Pointer leads to: \`AccountId.City\`. */
export type Through<Name extends string, Conditions> = {
  [Key in keyof Conditions & string as \`\${Name}.\${Key}\`]?: Conditions[Key];
};
/** Operators that join conditions. */
export type Logical<Where> = {
  $or?: readonly Where[];
  $and?: readonly Where[];
  $nor?: readonly Where[];
  $not?: Where;
  $text?: TextSearch;
  $relatedTo?: RelatedTo;
};

/** The fields that the service sets in every record. */
export type SystemFields = {
  objectId: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt: string;
  ACL: Acl;
  createdBy: Pointer<'_User'>;
  updatedBy: Pointer<'_User'>;
};
export type ConditionsOfSystemFields = {
  objectId?: IdCondition;
  createdAt?: DateCondition;
  updatedAt?: DateCondition;
  createdBy?: PointerCondition<'_User'>;
  updatedBy?: PointerCondition<'_User'>;
};
`;
