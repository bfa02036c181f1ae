import { newObjectId, newSiteId } from '../kernel/ids.ts';
import type { FieldType } from './model.ts';

/**
 * Fields that hold secrets, or what the service notes for itself: they exist for nobody, whatever his credential, in no shape (SPEC
 * "`_User`": password). Their columns hold hashes, never a password or a token.
 */
const secretFields: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    _User: ['password', '_username_key', '_email_key', '_last_failed_login', '_reset_token', '_reset_expires_at'],
    _Session: ['sessionToken'],
  }).map(([className, names]) => [className, new Set(names)]),
);

/** The error for a value that another record has. */
export type DuplicateError = 'usernameTaken' | 'emailTaken' | 'duplicateValue';

/** Fields of which no two records have the same value, and the error for the second. */
const uniqueFields: ReadonlyMap<string, ReadonlyMap<string, DuplicateError>> = new Map(
  Object.entries<Record<string, DuplicateError>>({
    _User: { _username_key: 'usernameTaken', _email_key: 'emailTaken', _reset_token: 'duplicateValue' },
    _Role: { name: 'duplicateValue' },
    _Session: { sessionToken: 'duplicateValue' },
  }).map(([className, fields]) => [className, new Map(Object.entries(fields))]),
);

const none: ReadonlySet<string> = new Set();
const noErrors: ReadonlyMap<string, DuplicateError> = new Map();

/** The fields of a table that exist for nobody. */
export function secretFieldsOf(className: string): ReadonlySet<string> {
  return secretFields.get(className) ?? none;
}

/** Whether a field is in schema reads: `password` is, since clients write it (SPEC "`_User`": write-only); other secrets are not. */
export function isDescribed(className: string, field: string): boolean {
  return field === 'password' || !secretFieldsOf(className).has(field);
}

/** The fields of a table whose values are unique, and the error that tells of a second one. */
export function uniqueFieldsOf(className: string): ReadonlyMap<string, DuplicateError> {
  return uniqueFields.get(className) ?? noErrors;
}

/** Fields that the service itself reads and writes (SPEC "`_User`", "`Config`", "Other system tables"): nobody may delete them. */
const systemFields: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    _User: ['username', 'email', 'name', 'status', 'last_success_login', 'emailVerified', 'active', '_failed_login_count'],
    _Role: ['name', 'users', 'roles'],
    _Session: ['user', 'expiresAt', 'createdWith', 'installationId', 'restricted'],
    _Dictionary: ['tblName', 'field', 'value'],
    _RequestLog: [
      ...['path', 'method', 'ip', 'country', 'referer', 'userAgent', 'user', 'usingMK', 'internal', 'trustedIP', 'duration'],
      ...['statusCode', 'contentLength', 'service', 'retries', 'installationId'],
    ],
    _Timeline: [
      ...['event', 'objectClass', 'objectIdValue', 'data', 'user', 'Referer', 'Last'],
      ...['AccountId', 'ContactId', 'SaleId', 'CaseId'],
    ],
    _syslogTriggers: ['triggerId', 'actionId', 'event', 'objectIdValue', 'data', 'error'],
    _Notification: ['User', 'Content', 'Date', 'Icon', 'objectClass', 'objectIdValue', 'updatedByTrigger'],
    _GeneralLogs: ['Type', 'Name', 'Value'],
    _DynamicQueries: ['Name', 'table', 'keys', 'where', 'order', 'groupBy'],
    _Trigger: ['Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
    Config: ['Name', 'Value'],
  }).map(([className, names]) => [className, new Set(names)]),
);

/**
 * SPEC "`_User`": fields that appear when they are first written, in these types. Their first value would else decide for good, and after
 * an `active` that was a text nobody could be blocked.
 */
const laterFields: ReadonlyMap<string, ReadonlyMap<string, FieldType>> = new Map([
  [
    '_User',
    new Map<string, FieldType>([
      ['phone', 'String'],
      ['extension', 'String'],
      ['job', 'String'],
      ['active', 'Boolean'],
      ['isPortalUser', 'Boolean'],
    ]),
  ],
]);

/** The type that a field of a table has whenever it is added; `undefined` where its first value or its definition decides. */
export function settledType(className: string, field: string): FieldType | undefined {
  return laterFields.get(className)?.get(field);
}

/** SPEC "Limits": pages, menus and sites have ids of another space than records. */
const siteTables: ReadonlySet<string> = new Set(['Sites', 'SitePages', 'SiteMenus']);

/** A new id for a record of a table. */
export function newIdFor(className: string): string {
  return siteTables.has(className) ? newSiteId() : newObjectId();
}

/** Whether a table is the service's own: it cannot be dropped. */
export function isSystemTable(className: string): boolean {
  return className.startsWith('_') || className === 'Config';
}

/** Whether the service relies on a field of a system table. */
export function isSystemField(className: string, field: string): boolean {
  return systemFields.get(className)?.has(field) || secretFieldsOf(className).has(field);
}
