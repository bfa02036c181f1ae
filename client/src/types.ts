/** The types of one table. `record-service types` writes those of a system. */
export interface TableTypes {
  record: object;
  create: object;
  update: object;
  where: object;
}

/** The types of all tables by their names. */
export type SchemaTypes<S> = { [T in keyof S]: TableTypes };

/** The fields that every record has, whatever `keys` says. */
export interface SystemFields {
  objectId: string;
  createdAt: string;
  updatedAt: string;
  ACL: Record<string, { read?: boolean; write?: boolean }>;
}

// biome-ignore lint/suspicious/noExplicitAny: without generated types every field may hold anything.
type Anything = any;

/** The types of a table of which none are given. */
export interface AnyTable {
  record: SystemFields & { [field: string]: Anything };
  create: { [field: string]: unknown };
  update: { [field: string]: unknown };
  where: { [field: string]: unknown };
}

/** The types of a system of which none are given. */
export interface AnySchema {
  [table: string]: AnyTable;
}

/** The names of the fields of a record. */
export type FieldOf<R> = keyof R & string;

/** A field, or a place below it: `Details.Floor`, `AccountId.City`. */
export type PathOf<R> = FieldOf<R> | `${FieldOf<R>}.${string}`;

/** A Pointer, or a path of Pointers, to include; `*`: all of the first level. */
export type IncludeOf<R> = PathOf<R> | '*';

/** A field to order by, descending with `-` before it. */
export type OrderOf<R> = PathOf<R> | `-${PathOf<R>}`;

type Head<P> = P extends `${infer H}.${string}` ? H : P;
type Tail<P, F extends string> = P extends `${F}.${infer T}` ? T : never;

/** The record that stands in the place of a Pointer. One that the caller may not read stays a Pointer, of which only `objectId` is there. */
type Expanded<S, V, P extends string> = V extends { __type: 'Pointer'; className: infer C }
  ? C extends keyof S
    ? S[C] extends TableTypes
      ? { __type: 'Object'; className: C } & WithIncludes<S, S[C]['record'], P>
      : V
    : V
  : V extends readonly (infer E)[]
    ? Expanded<S, E, P>[]
    : V;

/** A record with the records that `include` puts in. */
export type WithIncludes<S, R, P extends string> = [P] extends [never]
  ? R
  : {
      [F in keyof R]: F extends Head<P>
        ? Expanded<S, R[F], Tail<P, F & string>>
        : '*' extends P
          ? Expanded<S, R[F], never>
          : R[F];
    };

/** A record with the fields that `keys` names, and those that are always there. */
export type WithKeys<R, K extends string> = [K] extends [never] ? R : Pick<R, keyof R & (Head<K> | keyof SystemFields)>;

/** What a query or a read of one record answers. */
export type Shown<S, T extends keyof S, I extends string = never, K extends string = never> = S[T] extends TableTypes
  ? WithKeys<WithIncludes<S, S[T]['record'], I | Dotted<K>>, K>
  : never;

/** Names through Pointers in `keys`, which include the record. */
type Dotted<K> = K extends `${string}.${string}` ? K : never;

/** The answer of a create; a sign-up has the token of the new session besides. */
export interface Created {
  objectId: string;
  createdAt: string;
  sessionToken?: string;
}

/** The answer of an update, with the values that field operators produced. */
export type Updated<R> = { objectId: string; updatedAt: string } & Partial<Omit<R, keyof SystemFields>>;
