import type { DateOrder } from '../../../values/index.ts';
import type { Format } from '../source/format.ts';
import type { FieldMap } from './targets.ts';

/** What is to be imported, and how. */
export interface ImportRequest {
  readonly className: string;
  readonly format: Format | 'auto';
  readonly map: FieldMap;
  /** Fields by whose values rows are records that are there already; empty: each row is a new one. */
  readonly matchOn: readonly string[];
  /** Whether `objectId`, `createdAt`, `updatedAt`, `createdBy` and `updatedBy` of rows are taken over; else the service sets them. */
  readonly keepTimes: boolean;
  /** Whether no trigger runs, and nothing is written to the timeline. */
  readonly skipTriggers: boolean;
  readonly skipTimeline: boolean;
  /** Whether fields are made that the table lacks, and the table where there is none. */
  readonly newFields: boolean;
  /** In which order dates that are not ISO are. */
  readonly dateOrder?: DateOrder | undefined;
  readonly encoding?: string | undefined;
  /** Characters that a row may have, where that is less than a body may: reading a long one holds the event loop. */
  readonly longest?: number | undefined;
}
