import type { JsonObject } from '../../kernel/json.ts';
import type { PresentNames } from '../../query/present-names.ts';
import type { FieldRenames } from '../../schema/definition-renames.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Mutation, Store } from '../../storage/port.ts';

/** A rename of fields of one table. */
export interface Renamed {
  readonly className: string;
  readonly renames: FieldRenames;
  /** Replaces names in definitions. */
  readonly names: PresentNames;
  /** Ids of records that the same commit writes whole; they do not follow. */
  readonly except?: ReadonlySet<string>;
}

/** What a rename changes in records that name the fields. */
export interface FollowedNames {
  /** For the answer, by kind: `{triggers: ["Call new leads"]}`. Empty if nothing is changed. */
  readonly changed: JsonObject;
  /** Hold if the records are still as they were read. Pure. */
  conditions(schema: Schema): readonly Condition[];
  /** Steps of the commit of the rename. Pure. */
  steps(schema: Schema): readonly Mutation[];
}

/** Knows records that name fields as data. Reference: schemas.md#rename-a-field. */
export interface NameHolder {
  readonly className: string;
  /** Returns the fields of a record, in wire form, with present names. Fields that are not returned stay. */
  rewrite(row: JsonObject, renamed: Renamed): JsonObject;
  /** Reads these records and returns what a rename changes. @throws unavailable, timeout */
  follow(store: Store, renamed: Renamed): Promise<FollowedNames>;
}
