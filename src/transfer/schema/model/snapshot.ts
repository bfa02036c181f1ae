import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { UniqueForm } from '../../../schema/model.ts';

/** Version of the form. A snapshot of a later one is refused. Reference: schema-as-code.md#the-snapshot. */
export const FORMAT = 1;

/** What a snapshot may describe. Reference: schema-as-code.md#the-snapshot. */
export const parts = ['tables', 'permissions', 'roles', 'triggers', 'labels', 'reports', 'config'] as const;
export type Part = (typeof parts)[number];

/** A field of a table. */
export interface FieldPart {
  readonly type: string;
  readonly targetClass?: string;
  /** Its target is known not to be there: a table that was deleted, or was never made. Otherwise such a target is refused, since it is a mistake. */
  readonly targetMissing?: true;
  readonly required?: true;
  /** As on the wire. */
  readonly defaultValue?: JsonValue;
  /** Its former name: a table that still has it gets a renamed field. */
  readonly was?: string;
}

/** A unique index of a table. */
export interface UniquePart {
  readonly fields: readonly string[];
  readonly as?: Exclude<UniqueForm, 'text'>;
}

/** A table, without its permissions and labels. */
export interface TablePart {
  readonly fields: ReadonlyMap<string, FieldPart>;
  /** Fields and directions by name, in the order of the index. */
  readonly indexes: ReadonlyMap<string, JsonObject>;
  readonly uniqueIndexes: ReadonlyMap<string, UniquePart>;
  readonly textIndex: readonly string[];
  /** `null`: off. */
  readonly timeline: JsonObject | null;
}

/** A role, trigger, report or flag: a record that is matched by its name, and by its table if it has one. */
export interface NamedRow {
  /** Empty for roles and flags. */
  readonly table: string;
  readonly name: string;
  /** Without ids and times; references to records by name (`state/references.ts`). */
  readonly body: JsonObject;
}

/** Parts of a snapshot that are lists of such records. */
export type RowPart = Extract<Part, 'roles' | 'triggers' | 'reports' | 'config'>;
export const rowParts: readonly RowPart[] = ['roles', 'triggers', 'reports', 'config'];

/** Labels by field; `TABLE_ITSELF` for the table's own. */
export type LabelsPart = ReadonlyMap<string, string>;
export const TABLE_ITSELF = '';

/** What a system is made of, as data. A part that is left out is not described. */
export interface Snapshot {
  /** Whether what its parts do not name is not to exist. Otherwise it stays as it is. */
  readonly isComplete: boolean;
  readonly tables?: ReadonlyMap<string, TablePart>;
  /** Class-level permissions by table, as in the schema record. */
  readonly permissions?: ReadonlyMap<string, JsonObject>;
  /** By table, or by `_Terminology`. */
  readonly labels?: ReadonlyMap<string, LabelsPart>;
  /** Whether the labels were only beside the fields: then those that are missing stay. */
  readonly labelsOfFieldsOnly?: true;
  readonly roles?: readonly NamedRow[];
  readonly triggers?: readonly NamedRow[];
  readonly reports?: readonly NamedRow[];
  readonly config?: readonly NamedRow[];
}

/** What of a snapshot is compared and applied. */
export interface Scope {
  /** Left out: all that the snapshot has. */
  readonly parts?: readonly Part[] | undefined;
  /** Names of tables, with their permissions, labels, triggers and reports; no roles and flags. Left out: everything. */
  readonly only?: readonly string[] | undefined;
}

/** Why something is no snapshot, and where. */
export class SnapshotFault extends Error {
  /** Keys from the snapshot down to the fault: `tables`, a table, `fields`, … */
  readonly path: readonly string[];

  constructor(path: readonly string[], why: string) {
    super(why);
    this.name = 'SnapshotFault';
    this.path = path;
  }
}

/** Compares names by code units, so that the order is the same everywhere. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the entries of a map sorted by key. */
export const sorted = <V>(map: Iterable<readonly [string, V]>): (readonly [string, V])[] =>
  [...map].sort(([a], [b]) => byName(a, b));
