/**
 * What the console's program and its server part say to each other: JSON below `/console/-/api/{app_id}/`. Types alone, so that the program
 * may import them; values of fields are in wire form (SPEC "Wire types").
 */
import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** An answer that is an error: as of the catalogue. `conflict` goes with 409. */
export interface ApiError {
  readonly code: number;
  readonly error: string;
  readonly conflict?: Conflict;
}

/** Names of records that Pointers in an answer point at, by table and id. */
export type PointerNames = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Answer of `POST session {username, password}`: sign-in. */
export interface SignedIn extends Me {
  /** Whether the password is the one that the first start has made: the user should choose another. */
  readonly hasFirstPassword?: true;
}

/**
 * `GET me`: the user who is signed in. `PUT me/password {oldPassword, newPassword}` answers the same: other sessions of the user end, this one
 * goes on.
 */
export interface Me {
  readonly objectId: string;
  readonly username: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Whether he has the role that administers the system. */
  readonly isAdministrator: boolean;
}

/** `GET model`: the system as the caller may see it. */
export interface Model {
  /** Another text whenever the rest is. */
  readonly version: string;
  readonly system: { readonly appId: string; readonly name: string };
  /** An IANA name: `Asia/Jerusalem`. */
  readonly timeZone: string;
  readonly me: Me;
  readonly tables: readonly TableModel[];
}

export interface TableModel {
  readonly name: string;
  /** As stored; left out where there is none. */
  readonly label?: string;
  /** Whether the navigation has a link to it: readable, and neither `_…` nor `Config`. */
  readonly isListed: boolean;
  /** By class-level permissions; records may be closed to the caller all the same. */
  readonly may: Readonly<Record<'find' | 'get' | 'create' | 'update' | 'delete', boolean>>;
  readonly keepsHistory: boolean;
  /** Fields that a record is called by. */
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
  /** Of Pointers, Relations, and multi-select Arrays (`array_…_Pointer_{Table}`). */
  readonly targetClass?: string;
  readonly label?: string;
  /** Set by the service: `objectId`, `createdAt`, `createdBy` … */
  readonly isReadOnly: boolean;
  /** Whether ordering by it is quick in a table of any size. */
  readonly isIndexed: boolean;
}

/** `GET rows/{Table}?where=&order=&keys=&limit=&skip=|after=|before=`: a block of rows. `after` and `before` are cursors of an answer. */
export interface RowsAnswer {
  readonly rows: readonly JsonObject[];
  readonly names: PointerNames;
  /** Of the first and the last row; `null` where there is none. */
  readonly first: string | null;
  readonly last: string | null;
  /** By objectId: fields that are left out since they are too long for a list, where there are such. The record has them. */
  readonly leftOut?: Readonly<Record<string, readonly string[]>>;
}

/** `GET count/{Table}?where=`: the exact number of readable records that match. */
export interface CountAnswer {
  readonly count: number;
}

/** `GET records/{Table}/{id}`; answers of `POST records/{Table}` and `PUT records/{Table}/{id}`. */
export interface RecordAnswer {
  readonly record: JsonObject;
  readonly names: PointerNames;
  /** What the caller may do with this very record. */
  readonly may: { readonly update: boolean; readonly delete: boolean };
}

/** `POST records/{Table}`. The same `requestId` again makes no second record. */
export interface CreateRequest {
  readonly requestId: string;
  readonly fields: JsonObject;
}

/** `PUT records/{Table}/{id}`: changes fields of which each still holds what the user saw. */
export interface UpdateRequest {
  /** By field: a value, or `null`, which empties it. */
  readonly changes: JsonObject;
  /** What each of these fields held when the user began to type; `null` for nothing. */
  readonly base: JsonObject;
}

/** 409: fields that others changed meanwhile, or the record as it is now. */
export interface Conflict extends RecordAnswer {
  readonly fields: readonly string[];
  /** Who changed it last, and when. */
  readonly by: string | null;
  readonly at: string;
}

/** `GET related/{Table}/{id}`: records that point at one. Also what keeps it from being deleted. */
export interface RelatedAnswer {
  readonly tables: readonly RelatedTable[];
  /** Tables that could not be read in time. */
  readonly tookTooLong: readonly string[];
}

export interface RelatedTable {
  readonly table: string;
  /** The fields of it that point here. */
  readonly fields: readonly string[];
  readonly count: number;
  /** The newest few. */
  readonly rows: readonly { readonly objectId: string; readonly title: string; readonly createdAt: string }[];
  /** The filter that shows them all. */
  readonly where: JsonObject;
}

/** `GET history/{Table}/{id}?before=`: newest first. */
export interface HistoryAnswer {
  /** Whether the table keeps a history. */
  readonly isKept: boolean;
  readonly entries: readonly HistoryEntry[];
  readonly names: PointerNames;
  /** For `before`, where there are older ones. */
  readonly next: string | null;
}

export interface HistoryEntry {
  readonly at: string;
  readonly event: 'create' | 'update' | 'delete';
  /** Who wrote; `null`: a key, nobody by name. */
  readonly by: { readonly objectId: string; readonly name: string } | null;
  /** What else made the write: a trigger, a function or form, an agent, a key. `name` where it has one. */
  readonly via: { readonly kind: 'trigger' | 'function' | 'agent' | 'key'; readonly name?: string } | null;
  readonly changes: readonly HistoryChange[];
}

export interface HistoryChange {
  readonly field: string;
  /** Left out where it is not known. */
  readonly from?: JsonValue;
  readonly to?: JsonValue;
  /** An operator whose result is not known: what it did, as the timeline has it. */
  readonly steps?: JsonValue;
}

/** `GET search?q=&tables=&limit=`: over every table that the caller may read, or some; an empty `q` gives the first by name. */
export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** Whether not all was searched in time. */
  readonly isPartial: boolean;
}

export interface SearchResult {
  readonly table: string;
  readonly objectId: string;
  readonly title: string;
  /** The fields that matched, as they are. */
  readonly matched: JsonObject;
}

/** `GET changes?since=`: what to look at again. Asked every two seconds. */
export interface ChangesAnswer {
  /** For the next `since`. */
  readonly now: string;
  /** Tables with writes since; empty at the first call. */
  readonly tables: readonly string[];
  /** Whether the model is another one. */
  readonly isModelChanged: boolean;
}

/** `GET views/{Table}`: those that the caller may see, by name. */
export interface ViewsAnswer {
  readonly views: readonly SavedView[];
}

/**
 * `GET view/{id}`; `POST views/{Table}` and `PUT view/{id}` take `ViewContent` and answer it; `DELETE view/{id}` answers `{}`.
 */
export interface SavedView extends ViewContent {
  readonly objectId: string;
  readonly table: string;
  /** Whether it is the caller's own. */
  readonly isMine: boolean;
}

export interface ViewContent {
  readonly name: string;
  readonly where: JsonObject;
  /** As of `order`; empty: none. */
  readonly order: string;
  readonly columns: readonly ColumnState[];
  /** Who sees it beside its owner: nobody, those of roles, or with `*` everybody who may read reports. */
  readonly sharedWith: readonly string[];
}

export interface ColumnState {
  readonly field: string;
  /** Pixels; left out: as wide as usual. */
  readonly width?: number;
  readonly isPinned?: boolean;
}
