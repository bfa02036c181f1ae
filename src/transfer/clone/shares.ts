import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import { isHidden, isLog } from '../../schema/system-tables.ts';
import type { CloneOptions, Extent } from './options.ts';

/** Which records of a table a clone takes. */
export type Share = 'all' | 'recent' | 'none';

/** The hidden tables whose rows are part of the records: files, and the sum of their sizes. Others hold work in progress or credentials. */
export const fileTable = '_StoredFile';
export const usageTable = '_StorageUsage';
const hiddenTaken: ReadonlySet<string> = new Set([fileTable, usageTable]);

/** Tables that define how a system works. */
const definitions: ReadonlySet<string> = new Set([
  ...['Config', '_Dictionary', '_DynamicQueries', '_Role', '_Trigger'],
  ...['EmailTemplates', 'Forms', 'SMSTemplates'],
]);

/** Records of a table that has at most this many are taken as values of a list. */
const MAX_LIST_RECORDS = 1_000;

/** Decides which records of each table a clone takes. */
export class Shares {
  readonly #extent: Extent;
  readonly #schema: Schema;
  readonly #lookups: ReadonlySet<string>;
  readonly #withUsers: boolean;
  readonly #isAnonymous: boolean;
  readonly #withFiles: boolean;

  /** @param lookups names of lookup tables of the template */
  constructor({ extent, withFiles, withLogins, rules }: CloneOptions, schema: Schema, lookups: ReadonlySet<string>) {
    this.#extent = extent;
    this.#schema = schema;
    this.#lookups = lookups;
    this.#withFiles = withFiles;
    this.#isAnonymous = rules !== null;
    this.#withUsers = extent.kind !== 'schema' || withLogins;
  }

  /** Whether users are taken, with or without their passwords. */
  get hasUsers(): boolean {
    return this.#withUsers;
  }

  /** @param records number of records of the table */
  of({ className, fields }: TableSchema, records: number): Share {
    if (className === fileTable) return this.#withFiles ? 'all' : 'none';
    if (!mayBeTaken(className)) return 'none';
    // Their texts are made of values of other records.
    if (className === '_Notification' && this.#isAnonymous) return 'none';
    const { kind } = this.#extent;
    if (className === '_User') return this.#withUsers ? 'all' : 'none';
    if (kind === 'all' || className === usageTable || this.isDefinition(className)) return 'all';
    if (kind === 'schema') return 'none';
    return records <= MAX_LIST_RECORDS && this.#isList(className, fields.values()) ? 'all' : 'recent';
  }

  /** Whether a table defines how the system works, or is a lookup table of the template. */
  isDefinition(className: string): boolean {
    return definitions.has(className) || this.#lookups.has(className);
  }

  /** Whether a table of the operator's own is a list of values: records point at it, and it has plain values only. */
  #isList(className: string, fields: Iterable<Field>): boolean {
    if (className.startsWith('_') || !this.#schema.referencesTo.has(className)) return false;
    return [...fields].every(({ name, type }) => plainTypes.has(type) || ownFields.has(name));
  }
}

const plainTypes: ReadonlySet<string> = new Set(['String', 'Number', 'Boolean']);
const ownFields: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL']);

/** Whether a clone may take records of a table: those of logs, sessions and work in progress stay with the original. */
export const mayBeTaken = (className: string): boolean =>
  !isLog(className) && className !== '_Session' && (!isHidden(className) || hiddenTaken.has(className));
