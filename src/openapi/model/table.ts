import type { JsonValue } from '../../kernel/json.ts';
import type { ClassLevelPermissions, FieldType, UniqueIndex } from '../../schema/model.ts';

/** A field as clients see it. */
export interface DescribedField {
  readonly name: string;
  readonly type: FieldType;
  /** The table that a Pointer or Relation, or each element of a multi-select Array, leads to. */
  readonly target?: string;
  /** Its label in `_Dictionary`. */
  readonly label?: string;
  readonly isRequired: boolean;
  readonly defaultValue?: JsonValue;
}

/** A table as clients see it. */
export interface DescribedTable {
  readonly className: string;
  /** Its name as an identifier, unique among the tables of the system. */
  readonly identifier: string;
  readonly label?: string;
  /** Without the system fields; by name. */
  readonly fields: readonly DescribedField[];
  readonly permissions: ClassLevelPermissions;
  readonly uniqueIndexes: readonly UniqueIndex[];
}

/** A field that is written and never read. */
export const isWriteOnly = (className: string, field: string): boolean => className === '_User' && field === 'password';
