/**
 * Types of the protocol between the console's program and the server: JSON below `/console/-/api/{app_id}/`. Types only, so that the program can
 * import them. Values of fields are in wire form (types.md#wire-types).
 */
import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** An error answer, from the catalogue. `conflict` accompanies status 409. */
export interface ApiError {
  readonly code: number;
  readonly error: string;
  readonly conflict?: Conflict;
}

/** Names of the records that Pointers in an answer point at, by table and id. */
export type PointerNames = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Answer of `POST session {username, password}`: sign-in. */
export interface SignedIn extends Me {
  /** Whether the password is the generated one of the first start, which the user should change. */
  readonly hasFirstPassword?: true;
}

/**
 * Answer of `GET me`: the signed-in user. `PUT me/password {oldPassword, newPassword}` answers the same; it ends the user's other sessions and keeps
 * this one.
 */
export interface Me {
  readonly objectId: string;
  readonly username: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Whether the user has the administrator role. */
  readonly isAdministrator: boolean;
}

/** Answer of `GET model`: the system as the caller sees it. */
export interface Model {
  /** Changes whenever the model does. */
  readonly version: string;
  readonly system: { readonly appId: string; readonly name: string };
  /** An IANA name, e.g. `Asia/Jerusalem`. */
  readonly timeZone: string;
  readonly me: Me;
  readonly tables: readonly TableModel[];
}

export interface TableModel {
  readonly name: string;
  /** As stored; omitted if there is none. */
  readonly label?: string;
  /** Whether the navigation lists it: readable, and neither `_…` nor `Config`. */
  readonly isListed: boolean;
  /** By table permissions; single records may still be closed to the caller. */
  readonly may: Readonly<Record<'find' | 'get' | 'create' | 'update' | 'delete', boolean>>;
  readonly keepsHistory: boolean;
  /** Fields that form the title of a record. */
  readonly titleFields: readonly string[];
  readonly fields: readonly FieldModel[];
}

export type ConsoleFieldType =
  | 'String'
  | 'Number'
  | 'Boolean'
  | 'Date'
  | 'Pointer'
  | 'Relation'
  | 'File'
  | 'PrivateFile'
  | 'Array'
  | 'Object'
  | 'HTML/XML'
  | 'ACL';

export interface FieldModel {
  readonly name: string;
  readonly type: ConsoleFieldType;
  /** For Pointers, Relations, and multi-select Arrays (`array_…_Pointer_{Table}`). */
  readonly targetClass?: string;
  readonly label?: string;
  /** Set by the service: `objectId`, `createdAt`, `createdBy` … */
  readonly isReadOnly: boolean;
  /** Whether ordering by it is fast in a table of any size. */
  readonly isIndexed: boolean;
}

/**
 * Answer of `GET rows/{Table}?where=&order=&keys=&limit=&skip=|after=|before=`: a block of rows. `after` and `before` are cursors of an earlier
 * answer.
 */
export interface RowsAnswer {
  readonly rows: readonly JsonObject[];
  readonly names: PointerNames;
  /** Cursors of the first and the last row; `null` if there are none. */
  readonly first: string | null;
  readonly last: string | null;
  /** By objectId: fields that were omitted because they are too long for a list. `GET records` returns them. */
  readonly leftOut?: Readonly<Record<string, readonly string[]>>;
}

/** Answer of `GET count/{Table}?where=`: the exact number of readable records that match. */
export interface CountAnswer {
  readonly count: number;
}

/** Answer of `GET records/{Table}/{id}`, `POST records/{Table}` and `PUT records/{Table}/{id}`. */
export interface RecordAnswer {
  readonly record: JsonObject;
  readonly names: PointerNames;
  /** What the caller may do with this record. */
  readonly may: { readonly update: boolean; readonly delete: boolean };
}

/** Body of `POST records/{Table}`. Repeating a `requestId` creates no second record. */
export interface CreateRequest {
  readonly requestId: string;
  readonly fields: JsonObject;
}

/** Body of `PUT records/{Table}/{id}`: changes fields if they still hold what the user saw. */
export interface UpdateRequest {
  /** By field: a value, or `null` to clear it. */
  readonly changes: JsonObject;
  /** The value of each field when the user began to edit; `null` if it had none. */
  readonly base: JsonObject;
}

/** Content of a 409: the fields that others changed, and the present record. */
export interface Conflict extends RecordAnswer {
  readonly fields: readonly string[];
  /** Name of the last author, and time of the change. */
  readonly by: string | null;
  readonly at: string;
}

/** Answer of `GET related/{Table}/{id}`: records that point at a record, including those that prevent its deletion. */
export interface RelatedAnswer {
  readonly tables: readonly RelatedTable[];
  /** Tables that could not be read in time. */
  readonly tookTooLong: readonly string[];
}

export interface RelatedTable {
  readonly table: string;
  /** Its fields that point at the record. */
  readonly fields: readonly string[];
  readonly count: number;
  /** The newest few. */
  readonly rows: readonly { readonly objectId: string; readonly title: string; readonly createdAt: string }[];
  /** Filter that finds all of them. */
  readonly where: JsonObject;
}

/** Answer of `GET history/{Table}/{id}?before=`: newest first. */
export interface HistoryAnswer {
  /** Whether the table keeps a history. */
  readonly isKept: boolean;
  readonly entries: readonly HistoryEntry[];
  readonly names: PointerNames;
  /** Value for `before`, if there are older entries. */
  readonly next: string | null;
}

export interface HistoryEntry {
  readonly at: string;
  readonly event: 'create' | 'update' | 'delete';
  /** The user who wrote; `null` for a key. */
  readonly by: { readonly objectId: string; readonly name: string } | null;
  /** What made the write besides the user: a trigger, a function or form, an agent, a key. `name` if it has one. */
  readonly via: { readonly kind: 'trigger' | 'function' | 'agent' | 'key'; readonly name?: string } | null;
  readonly changes: readonly HistoryChange[];
}

export interface HistoryChange {
  readonly field: string;
  /** Omitted if unknown. */
  readonly from?: JsonValue;
  readonly to?: JsonValue;
  /** A field operator whose result is unknown, as recorded in the timeline. */
  readonly steps?: JsonValue;
}

/**
 * Answer of `GET search?q=&tables=&limit=`: searches all tables that the caller may read, or the named ones; an empty `q` returns the first records
 * by name.
 */
export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** Whether the search was incomplete for lack of time. */
  readonly isPartial: boolean;
}

export interface SearchResult {
  readonly table: string;
  readonly objectId: string;
  readonly title: string;
  /** The fields that matched, with their values. */
  readonly matched: JsonObject;
}

/** Answer of `GET changes?since=`: what to reload. Polled every two seconds. */
export interface ChangesAnswer {
  /** Value for the next `since`. */
  readonly now: string;
  /** Tables written to since; empty at the first call. */
  readonly tables: readonly string[];
  /** Whether the model has changed. */
  readonly isModelChanged: boolean;
}

/** Answer of `GET views/{Table}`: the views that the caller may see, by name. */
export interface ViewsAnswer {
  readonly views: readonly SavedView[];
}

/** Answer of `GET view/{id}`. `POST views/{Table}` and `PUT view/{id}` take `ViewContent` and answer this; `DELETE view/{id}` answers `{}`. */
export interface SavedView extends ViewContent {
  readonly objectId: string;
  readonly table: string;
  /** Whether the caller owns it. */
  readonly isMine: boolean;
}

export interface ViewContent {
  readonly name: string;
  readonly where: JsonObject;
  /** In the syntax of `order`; empty: none. */
  readonly order: string;
  readonly columns: readonly ColumnState[];
  /** Who sees it besides its owner: no one, holders of roles, or with `*` every reader of reports. */
  readonly sharedWith: readonly string[];
}

export interface ColumnState {
  readonly field: string;
  /** In pixels; if omitted, the default width. */
  readonly width?: number;
  readonly isPinned?: boolean;
}
