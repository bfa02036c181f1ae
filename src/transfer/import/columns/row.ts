import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { LinkTarget } from './targets.ts';

/** An unparsed row of a file. */
export interface SourceRow {
  /** Counted from 1: line of the file, row of a spreadsheet including the header, or element of a list. */
  readonly number: number;
  /** Number of characters. */
  readonly length: number;
  /** Parses the row. @throws ServiceError with the reason why it is rejected */
  read(): ReadRow;
  /**
   * Returns the row as in the file.
   * @param hides whether the value of a field or column is left out; the result is `null` if the row's values cannot be assigned to columns
   */
  toJson(hides?: (name: string) => boolean): JsonValue;
}

/** A Pointer of a row that is resolved by a value. */
export interface Link {
  readonly target: LinkTarget;
  readonly value: JsonValue;
}

/** A row as the body of a create. */
export interface ReadRow {
  readonly body: JsonObject;
  readonly links: readonly Link[];
  /** Names of values that are not imported. */
  readonly leftOut: readonly string[];
}

export const none: readonly never[] = [];
