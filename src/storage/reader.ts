import { fail } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Aggregation } from '../query/aggregate/model.ts';
import type { Query, Selection } from '../query/model/selection.ts';
import type { Field, TableSchema } from '../schema/model.ts';
import type { StoredValue } from '../values/types/type.ts';
import type { ReadsByKey } from './by-key.ts';
import type { QueryPlan } from './query-plan.ts';

/** Chunks of a text that know how many records they hold. */
export interface CountedText extends AsyncIterable<string> {
  /** Number of records so far, those that the chunks in transit hold included. */
  readonly records: number;
}

/** JSON text, whole or in chunks. A stream that fails throws; a consumer that stops reading early must return the iterator. */
export type JsonText = string | AsyncIterable<string>;

/** Default limit of a text that is collected in memory, in characters. */
export const MAX_TEXT_CHARS = 64 * 1024 * 1024;

/**
 * Collects the text into one string.
 * @throws resultTooLarge (116) if it has more than `maxChars` characters
 */
export async function wholeText(text: JsonText, maxChars = MAX_TEXT_CHARS): Promise<string> {
  if (typeof text === 'string') return text;
  let whole = '';
  for await (const piece of text) {
    whole += piece;
    if (whole.length > maxChars) fail('resultTooLarge');
  }
  return whole;
}

/** The result of a query. */
export interface FindResult {
  /** JSON array of the records; empty if `rows` or `escaped` is set. */
  readonly results: JsonText;
  /** The records as values, if they were requested and are available (`rowsOf`). */
  readonly rows?: readonly JsonObject[];
  /** The text of each record as it stands inside a JSON string, if they were requested and are available (`escapedOf`). */
  readonly escaped?: readonly string[];
  /** Present if the query asked for it. */
  readonly count?: number;
}

/** The form of records that are wanted one by one instead of as the text of an array. */
export type RowForm = 'values' | 'escaped';

/** The schema lost a field or table that a read was planned with: plan it again. */
export class SchemaChanged extends Error {}

/** The reads of one system. Long ones run off the event loop and end at the time limit. @throws timeout, noTextIndex, SchemaChanged */
export interface Reader extends ReadsByKey {
  /** Returns the JSON text of the first record of the selection; `null` if there is none. */
  get(selection: Selection, objectId: string): Promise<JsonText | null>;
  /**
   * @param form records are returned in it if available, else as the text of an array
   * @param until ends the statement with `timeout`, unless part of the result was already returned
   */
  find(query: Query, form?: RowForm, until?: AbortSignal): Promise<FindResult>;
  /** Returns a JSON array of result rows. */
  aggregate(aggregation: Aggregation): Promise<JsonText>;
  /** Returns how the database would run a read now, without running it. @throws as a read; timeout */
  explain(read: Query | Aggregation): Promise<QueryPlan>;
  /** Counts the records of a query, ignoring skip and limit, and stops at `atMost` + 1. @param atMost never chosen by a client */
  countUpTo(query: Query, atMost: number): Promise<number>;
  /**
   * Returns the JSON text of a record in wire form, built from its stored values. Relations of the table are included, absent values left out.
   * @param fields the same array object for the same fields: it is the cache key of the form; it begins with objectId
   * @param values in the order of the fields
   */
  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string;
}
