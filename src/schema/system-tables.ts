import { newObjectId, newSiteId } from '../kernel/ids.ts';
import { phoneKey } from '../kernel/phone-key.ts';
import type { FieldType } from './model.ts';
import type { DerivedField, DuplicateError, SystemTable } from './system-table.ts';

/** The trigger that caused a write, in notifications and in the data of the timeline. */
export const causeField = 'updatedByTrigger';

/** A field of `_User` that never has values: if the table has it, passwords may be hashes taken over from another service. */
export const importedHashesField = '_imported_hashes';

/** The fields that make up a notification's message and addressee. Reference: system-tables.md#_notification. */
export const notificationFields = ['User', 'Content', 'Date', 'Icon', 'objectClass', 'objectIdValue', causeField] as const;

/** Fields of rows that the service fills with values of other records, naming those records (adr/0016). */
export const copyFields = {
  /** The class of the record that a row is about, if no other field holds it. */
  className: '_class',
  /** JSON text of the values that the row was made of: `[[className, objectId, field, acl], …]`. */
  sources: '_sources',
} as const;

const tables: Readonly<Record<string, SystemTable>> = {
  _User: {
    kept: [
      'username',
      'email',
      'name',
      'status',
      'last_success_login',
      'emailVerified',
      'active',
      '_failed_login_count',
      'mcpPermissions',
    ],
    secret: [
      'password',
      '_username_key',
      '_email_key',
      '_last_failed_login',
      '_reset_token',
      '_reset_expires_at',
      importedHashesField,
    ],
    unique: { _username_key: 'usernameTaken', _email_key: 'emailTaken', _reset_token: 'duplicateValue' },
    later: {
      phone: 'String',
      extension: 'String',
      job: 'String',
      active: 'Boolean',
      isPortalUser: 'Boolean',
      mcpPermissions: 'Array',
    },
  },
  _Role: { kept: ['name', 'users', 'roles'], unique: { name: 'duplicateValue' }, watched: true },
  _Session: {
    kept: ['user', 'expiresAt', 'createdWith', 'installationId', 'restricted'],
    secret: ['sessionToken'],
    unique: { sessionToken: 'duplicateValue' },
    watched: true,
  },
  _Dictionary: { kept: ['tblName', 'field', 'value'], watched: true },
  _RequestLog: {
    kept: [
      ...['path', 'method', 'ip', 'country', 'referer', 'userAgent', 'user', 'usingMK', 'internal', 'trustedIP', 'duration'],
      ...['statusCode', 'contentLength', 'service', 'retries', 'installationId', 'keyName'],
    ],
  },
  _AdminLog: { kept: ['act', 'who', 'subject', 'before', 'after', 'requestId'], sealed: true },
  _Timeline: {
    kept: [
      ...['event', 'objectClass', 'objectIdValue', 'data', 'user', 'Referer', 'Last'],
      ...['AccountId', 'ContactId', 'SaleId', 'CaseId'],
    ],
    guarding: ['user', 'createdBy', 'updatedBy'],
  },
  _syslogTriggers: {
    kept: ['triggerId', 'actionId', 'event', 'objectIdValue', 'data', 'error'],
    secret: [copyFields.className, copyFields.sources],
  },
  _Notification: {
    kept: notificationFields,
    secret: [copyFields.sources],
  },
  Emails: { kept: [], secret: [copyFields.sources] },
  _GeneralLogs: { kept: ['Type', 'Name', 'Value'] },
  _DynamicQueries: { kept: ['Name', 'table', 'keys', 'where', 'order', 'groupBy', 'View'], queries: ['where'] },
  _Trigger: {
    kept: ['Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active', 'nextRun', 'lastRun'],
    secret: ['_cursor', '_author'],
    watched: true,
    queries: ['criteria', 'actions'],
  },
  _TriggerQueue: {
    kept: [
      ...['kind', 'triggers', 'event', 'objectClass', 'objectIdValue', 'fields', 'record', 'before', 'level', 'source'],
      ...['flags', 'relations', 'state', 'attempts', 'dueAt', 'owner', 'chain'],
    ],
    guarding: [],
    hidden: true,
  },
  Config: { kept: ['Name', 'Value'], watched: true },
  Accounts: { kept: [], secret: ['_phone_key'], derived: { PhoneNumber: { field: '_phone_key', key: phoneKey } } },
  LeadStatuses: { kept: ['SystemKey'], watched: true },
  _StoredFile: { kept: ['name', 'size', 'contentType', 'isPublic', 'isPrivate'], hidden: true },
  _StorageUsage: { kept: ['files', 'bytes', 'quota'], hidden: true },
  _ImportJob: {
    kept: [
      ...[
        'kind',
        'objectClass',
        'options',
        'state',
        'run',
        'author',
        'body',
        'owner',
        'error',
        'done',
        'of',
        'created',
        'updated',
      ],
      ...['rejected', 'rejectedBytes', 'finishedAt'],
    ],
    guarding: [],
    hidden: true,
  },
  _ImportReject: { kept: ['job', 'part', 'rows'], guarding: [], hidden: true },
  _IdempotencyKey: {
    kept: ['fingerprint', 'state', 'owner', 'answer', 'sealed', 'record', 'at', 'fields', 'snapshot'],
    guarding: [],
    hidden: true,
  },
  _OAuthItem: { kept: ['kind', 'payload', 'family', 'uid', 'consumedAt', 'expiresAt'], guarding: [], hidden: true },
};

/** A system table with its lists as sets and maps. */
interface SystemTableSets {
  readonly undeletable: ReadonlySet<string>;
  readonly secret: ReadonlySet<string>;
  readonly unique: ReadonlyMap<string, DuplicateError>;
  readonly derived: ReadonlyMap<string, DerivedField>;
  /** The derived fields themselves. */
  readonly lookUps: ReadonlySet<string>;
  readonly later: ReadonlyMap<string, FieldType>;
  /** `null`: all Pointers. */
  readonly guarding: ReadonlySet<string> | null;
  readonly watched: boolean;
  readonly hidden: boolean;
  readonly sealed: boolean;
  readonly queries: ReadonlySet<string>;
}

const systemTables: ReadonlyMap<string, SystemTableSets> = new Map(
  Object.entries(tables).map(
    ([
      className,
      {
        kept,
        secret = [],
        unique = {},
        derived = {},
        later = {},
        guarding,
        watched = false,
        hidden = false,
        sealed = false,
        queries = [],
      },
    ]) => [
      className,
      {
        undeletable: new Set([...kept, ...secret]),
        secret: new Set(secret),
        unique: new Map(Object.entries(unique)),
        derived: new Map(Object.entries(derived)),
        lookUps: new Set(Object.values(derived).map(({ field }) => field)),
        later: new Map(Object.entries(later)),
        guarding: guarding ? new Set(guarding) : null,
        watched,
        hidden,
        sealed,
        queries: new Set(queries),
      },
    ],
  ),
);
const ordinary: SystemTableSets = {
  undeletable: new Set(),
  secret: new Set(),
  unique: new Map(),
  derived: new Map(),
  lookUps: new Set(),
  later: new Map(),
  guarding: null,
  watched: false,
  hidden: false,
  sealed: false,
  queries: new Set(),
};

const setsOf = (className: string): SystemTableSets => systemTables.get(className) ?? ordinary;

/** Returns the fields of a table that exist for no caller. */
export function secretFieldsOf(className: string): ReadonlySet<string> {
  return setsOf(className).secret;
}

/**
 * Whether a field is in schema reads: `password` is, since clients write it; other secrets and the fields of hidden tables are not.
 * Reference: schemas.md#schema-record.
 */
export function isDescribed(className: string, field: string): boolean {
  const { secret, hidden } = setsOf(className);
  return !hidden && (field === 'password' || !secret.has(field));
}

/** Whether a table exists for no caller: every request is refused, and schema reads leave it out. Reference: system-tables.md#hidden-tables. */
export function isHidden(className: string): boolean {
  return setsOf(className).hidden;
}

/** Whether only the service writes a table, and changes its schema: every request that would is refused. Reference: system-tables.md#_adminlog. */
export function isSealed(className: string): boolean {
  return setsOf(className).sealed;
}

/** Returns the unique fields of a table, each with the error for a duplicate value. */
export function uniqueFieldsOf(className: string): ReadonlyMap<string, DuplicateError> {
  return setsOf(className).unique;
}

/** Returns the derived fields of a table, by their source fields. */
export function derivedFieldsOf(className: string): ReadonlyMap<string, DerivedField> {
  return setsOf(className).derived;
}

/** Returns the non-unique fields by which the service looks records of a table up: each has an index, in the order of creation. */
export function lookUpFieldsOf(className: string): ReadonlySet<string> {
  return setsOf(className).lookUps;
}

/** Returns the fixed type of a field whenever it is added; `undefined` if its first value or its definition decides. */
export function fixedType(className: string, field: string): FieldType | undefined {
  return setsOf(className).later.get(field);
}

/** Whether the service relies on a field of a system table. */
export function isSystemField(className: string, field: string): boolean {
  return setsOf(className).undeletable.has(field);
}

/** Whether a table is the service's own: it cannot be dropped. */
export function isSystemTable(className: string): boolean {
  return className.startsWith('_') || className === 'Config';
}

/**
 * Whether the fields that clients add to a table may be required, have defaults or be unique: all records are written for callers, field by field,
 * and never by the service alone.
 */
export function takesConstraints(className: string): boolean {
  return !className.startsWith('_') || className === '_User' || className === '_Role';
}

/** Their ids are of another form than those of other records (records.md#system-fields). */
const siteTables: ReadonlySet<string> = new Set(['Sites', 'SitePages', 'SiteMenus']);

/** Whether a table holds pages, menus or sites. */
export function isSiteTable(className: string): boolean {
  return siteTables.has(className);
}

/** Returns a new id for a record of a table. */
export function newIdFor(className: string): string {
  return isSiteTable(className) ? newSiteId() : newObjectId();
}

/** Whether a Pointer field keeps the record it points at from being deleted (records.md#delete). */
export function isGuarding(className: string, field: string): boolean {
  return setsOf(className).guarding?.has(field) ?? true;
}

/** Whether a table is a log. */
export function isLog(className: string): boolean {
  return logs.has(className) || className.startsWith('_syslog');
}

const logs: ReadonlySet<string> = new Set(['_Timeline', '_RequestLog', '_GeneralLogs', '_AdminLog']);

/** Whether every process is notified of writes to a table. */
export function isWatched(className: string): boolean {
  return setsOf(className).watched;
}

/** Whether the values of a field contain queries, whose keys may hold `$` and `.` (types.md#names). */
export function holdsQueries(className: string, field: string): boolean {
  return setsOf(className).queries.has(field);
}
