import type { DateOrder } from '../../../values/index.ts';
import type { Format } from '../source/format.ts';
import type { FieldMap } from './targets.ts';

/** The request of an import. */
export interface ImportRequest {
  readonly className: string;
  readonly format: Format | 'auto';
  readonly map: FieldMap;
  /** Fields by whose values rows match existing records; if empty, each row creates a record. */
  readonly matchOn: readonly string[];
  /** Whether `objectId`, `createdAt`, `updatedAt`, `createdBy` and `updatedBy` of rows are kept; otherwise the service sets them. */
  readonly keepTimes: boolean;
  /** Whether no triggers run, and whether nothing is written to the timeline. */
  readonly skipTriggers: boolean;
  readonly skipTimeline: boolean;
  /** Whether missing fields, and a missing table, are created. */
  readonly newFields: boolean;
  /** Order of day, month and year in dates that are not ISO 8601. */
  readonly dateOrder?: DateOrder | undefined;
  readonly encoding?: string | undefined;
  /** Maximum number of characters of a row, if lower than the limit of a body: parsing a long one blocks the event loop. */
  readonly longest?: number | undefined;
}
