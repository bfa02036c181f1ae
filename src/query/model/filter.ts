import type { Masks, RowGuard } from '../../access/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { StoredValue } from '../../values/types/type.ts';

/** The subject of a constraint: a field, or a place inside an Object or Array field (`path` not empty: keys and array positions). */
export interface FieldRef {
  readonly field: Field;
  readonly path: readonly string[];
}

/** Order comparisons between values of one type. */
export type Inequality = 'lt' | 'lte' | 'gt' | 'gte';
export type Comparison = 'eq' | Inequality;

/**
 * A `where`, checked against the schema: every name is a field, every value has the stored form of its field. No SQL here;
 * engines compile it. Values of a place inside a field (`path`), and of elements of an Array, are JSON scalars or JSON text (see `JsonOperand`).
 */
export type Filter =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'and' | 'or'; readonly items: readonly Filter[] }
  /** True exactly if the item is not true (absent values included). */
  | { readonly kind: 'not'; readonly item: Filter }
  /**
   * Restricts the filter to what the caller may see of the table: which records, and masks by which fields appear absent in some records, in
   * every condition that names them.
   */
  | { readonly kind: 'guard'; readonly guard: RowGuard; readonly table: TableSchema; readonly masks?: Masks }
  | { readonly kind: 'exists'; readonly ref: FieldRef }
  /** Plain column (path empty, not json): `column <op> value`; false if the value is absent. */
  | {
      readonly kind: 'compare';
      readonly field: Field;
      readonly op: Comparison;
      readonly value: StoredValue;
    }
  /** Plain column: the value is one of the list; false if absent. */
  | { readonly kind: 'in'; readonly field: Field; readonly values: readonly StoredValue[] }
  /** Inside json, at the place itself: comparison with a JSON operand of the same JSON type. */
  | {
      readonly kind: 'jsonCompare';
      readonly ref: FieldRef;
      readonly op: Comparison;
      readonly operand: JsonOperand;
    }
  /** The array at the place has an element that matches one of the operands (scalar constraint on an Array, `$in` on an Array). */
  | { readonly kind: 'hasAny'; readonly ref: FieldRef; readonly operands: readonly JsonOperand[] }
  /** The array at the place has an element of the operand's type that compares to it as `op` says (`$gt` and the like on an Array). */
  | {
      readonly kind: 'hasOrdered';
      readonly ref: FieldRef;
      readonly op: Inequality;
      readonly operand: Extract<JsonOperand, { kind: 'string' | 'number' | 'date' }>;
    }
  /** The array at the place has an element for each of the operands (`$all`). */
  | { readonly kind: 'hasAll'; readonly ref: FieldRef; readonly operands: readonly (JsonOperand | Regex)[] }
  /** The array at the place is present and has only elements that match one of the operands (`$containedBy`). */
  | { readonly kind: 'hasOnly'; readonly ref: FieldRef; readonly operands: readonly JsonOperand[] }
  /** Text column, text at a place, or any text element of an array there. */
  | { readonly kind: 'regex'; readonly ref: FieldRef; readonly regex: Regex }
  | { readonly kind: 'text'; readonly table: TableSchema; readonly search: TextSearch }
  /** A superset of the matching records by the search index of the table, or all; other conditions have to decide. Never from a client. */
  | { readonly kind: 'candidates'; readonly table: TableSchema; readonly search: SearchWords; readonly guard: RowGuard | null }
  /** The records whose place in the order of creation is after `after` and up to `upTo`. Never from a client. */
  | { readonly kind: 'places'; readonly after: number; readonly upTo: number }
  /** The records created last. Never from a client. */
  | { readonly kind: 'newest'; readonly table: TableSchema; readonly count: number }
  /**
   * A Pointer whose target matches, an Array or a Relation with such a Pointer, or a place that holds either (`$inQuery`).
   * The sub-query's filter holds the caller's own guard.
   */
  | { readonly kind: 'inQuery'; readonly ref: FieldRef; readonly target: SubQuery }
  /** The value, or an element of an array, equals a value of `key` among the sub-query's records (`$select`). */
  | { readonly kind: 'select'; readonly ref: FieldRef; readonly target: SubQuery; readonly key: FieldRef }
  /** Records that the owner's Relation field holds (`$relatedTo`). `owner` holds the caller's guard on the owning record. */
  | { readonly kind: 'relatedTo'; readonly relation: Field; readonly ownerId: string; readonly owner: SubQuery }
  /** Records whose Relation field holds one of these members. */
  | { readonly kind: 'hasMember'; readonly relation: Field; readonly memberIds: readonly string[] };

/** A JSON value to compare with. A Pointer matches by class and id, a Date by its instant, other objects and arrays by equal content. */
export type JsonOperand =
  | { readonly kind: 'null' }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'date'; readonly iso: string }
  | { readonly kind: 'pointer'; readonly className: string; readonly objectId: string }
  /** Canonical JSON text (kernel/json.ts). */
  | { readonly kind: 'json'; readonly canonical: string };

/** A checked `$regex`. `literal` is set if the pattern is plain text, which needs no regex engine. */
export interface Regex {
  readonly kind: 'pattern';
  readonly pattern: string;
  /** Sorted subset of `imsx`. */
  readonly options: string;
  readonly literal?: { readonly text: string; readonly at: 'start' | 'end' | 'anywhere' | 'whole' };
}

/** A parsed `$text` search. Terms are any-of, phrases all-of, excluded none-of. */
export interface TextSearch {
  readonly terms: readonly string[];
  readonly phrases: readonly string[];
  readonly excluded: readonly string[];
  readonly caseSensitive: boolean;
  readonly diacriticSensitive: boolean;
}

/** A word of a search index. */
export interface SearchWord {
  readonly word: string;
  readonly isWhole: boolean;
}

/** A lookup in a search index: all words, or any of the others. */
export interface SearchWords {
  /** Lower-case letters and digits; each a word of the record, or the beginning of one. */
  readonly words: readonly SearchWord[];
  /** Phones and numbers, in the form of the index. */
  readonly tokens: readonly string[];
  /** The beginnings of phones. */
  readonly starts: readonly string[];
  /** The fields to search, of those in the index. If the index does not tell fields apart, other conditions have to. */
  readonly fields: readonly Field[];
  /** Maximum number of records: those created last, if the index is in that order. */
  readonly limit: number;
}

/** A query inside a query: the filter already holds the caller's guard. */
export interface SubQuery {
  readonly table: TableSchema;
  readonly filter: Filter;
  readonly limit?: number;
  readonly skip?: number;
}

/** A step from a record to the one that its Pointer leads to; `filter` holds the caller's guard on that record. */
export interface PointerStep {
  readonly pointer: Field;
  readonly table: TableSchema;
  readonly filter: Filter;
}

/**
 * One sort key; `score` is the relevance of `$text`. `pointed` is a field of the record that Pointers lead to, one after the other: absent if one of
 * them leads to no record that the caller may read.
 */
export type OrderKey =
  | { readonly kind: 'field'; readonly ref: FieldRef; readonly descending: boolean }
  | { readonly kind: 'pointed'; readonly steps: readonly PointerStep[]; readonly ref: FieldRef; readonly descending: boolean }
  | { readonly kind: 'score'; readonly descending: boolean };

/** Whether a test holds for some condition of a filter, at any depth of `and`, `or` and `not`. A sub-query is one condition. */
export function someCondition(filter: Filter, test: (condition: Filter) => boolean): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.items.some((item) => someCondition(item, test));
    case 'not':
      return someCondition(filter.item, test);
    default:
      return test(filter);
  }
}

/** Whether a condition matches texts against a pattern that is more than plain text: its time depends on both. */
export function hasPattern(condition: Filter): boolean {
  if (condition.kind === 'regex') return condition.regex.literal === undefined;
  return condition.kind === 'hasAll' && condition.operands.some((operand) => operand.kind === 'pattern');
}

/** Returns the `$text` of a filter that defines relevance: the first one that can make a record match. */
export function findSearch(filter: Filter): Extract<Filter, { kind: 'text' }> | undefined {
  if (filter.kind === 'text') return filter;
  if (filter.kind !== 'and' && filter.kind !== 'or') return undefined;
  for (const item of filter.items) {
    const found = findSearch(item);
    if (found) return found;
  }
  return undefined;
}
