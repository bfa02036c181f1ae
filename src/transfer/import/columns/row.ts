import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { LinkTarget } from './targets.ts';

/** A row of a file, not yet read. */
export interface SourceRow {
  /** From 1: of the file's lines, of a spreadsheet's rows with the header, or of a list's elements. */
  readonly number: number;
  /** Characters. */
  readonly length: number;
  /** @throws ServiceError that says what is wrong with it */
  read(): ReadRow;
  /**
   * The row as it stands in the file.
   * @param hides fields, and columns, whose values are left out; a row in which they cannot be told apart is `null` then
   */
  told(hides?: (name: string) => boolean): JsonValue;
}

/** A Pointer of a row that is to be found by a value. */
export interface Link {
  readonly target: LinkTarget;
  readonly value: JsonValue;
}

/** A row as the body of a create. */
export interface ReadRow {
  readonly body: JsonObject;
  readonly links: readonly Link[];
  /** Names of what was in it and is not taken over. */
  readonly leftOut: readonly string[];
}

export const none: readonly never[] = [];
