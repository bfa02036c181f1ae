import type { JsonObject } from '../../../kernel/json.ts';
import type { RowKind } from '../model/rows.ts';
import type { FieldPart, NamedRow, TablePart } from '../model/snapshot.ts';
import type { StoredLabel } from '../state/labels.ts';
import type { StoredRow } from '../state/rows.ts';

/** A field that changes its type or target. */
export interface Retyped {
  readonly name: string;
  readonly from: FieldPart;
  readonly to: FieldPart;
}

/** Names of what is made and of what goes; what is defined anew is in both. */
export interface MadeAndDropped {
  readonly made: readonly string[];
  readonly dropped: readonly string[];
}

/** How a table that both sides have, or the snapshot alone, becomes what the snapshot says. Only what differs. */
export interface TableDelta {
  readonly className: string;
  readonly isNew: boolean;
  /** `null`: the snapshot says nothing of its fields and indexes. */
  readonly wanted: TablePart | null;
  readonly renamed: readonly (readonly [from: string, to: string])[];
  readonly added: readonly string[];
  readonly dropped: readonly string[];
  readonly retyped: readonly Retyped[];
  /** Fields that become required or no longer are, or get another default. */
  readonly options: readonly string[];
  readonly indexes: MadeAndDropped;
  readonly uniqueIndexes: MadeAndDropped;
  readonly hasNewTextIndex: boolean;
  readonly hasNewTimeline: boolean;
  /** `null`: they stay. */
  readonly permissions: JsonObject | null;
  /** The permission keys that differ. */
  readonly changedPermissions: readonly string[];
}

/** A record that is created, changed or deleted. */
export type RowDelta =
  | { readonly op: 'add'; readonly kind: RowKind; readonly wanted: NamedRow }
  | {
      readonly op: 'change';
      readonly kind: RowKind;
      readonly wanted: NamedRow;
      readonly found: StoredRow;
      /** Fields that differ. */
      readonly changed: readonly string[];
    }
  | { readonly op: 'remove'; readonly kind: RowKind; readonly found: StoredRow };

/** The labels of a table that differ. */
export interface LabelDelta {
  readonly table: string;
  readonly set: readonly { readonly field: string; readonly label: string; readonly found: StoredLabel | undefined }[];
  readonly removed: readonly { readonly field: string; readonly found: StoredLabel }[];
}

/** All differences of a system from a snapshot. */
export interface Delta {
  readonly tables: readonly TableDelta[];
  /** Tables that go. */
  readonly gone: readonly string[];
  readonly rows: readonly RowDelta[];
  readonly labels: readonly LabelDelta[];
  /** What a reader should know and what is no change. */
  readonly notes: readonly string[];
}
