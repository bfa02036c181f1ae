import type { Schema } from '../../schema/model.ts';
import type { FieldsWrite, SettledFiles } from './files.ts';
import type { RecordPlan } from './transact.ts';

/** A write of one record, everything before its plan done. */
export interface PreparedRecord extends FieldsWrite {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** As of `RuledFields`. */
  readonly version?: number;
  /** Pure. */
  plan(schema: Schema, settled: SettledFiles): RecordPlan;
}
