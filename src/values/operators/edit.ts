import type { JsonValue } from '../../kernel/json.ts';

/** A change of an Array or Object column, or of a place inside it (`path`; empty: the column's value itself). */
export type JsonEdit = { readonly path: readonly string[] } & (
  | { readonly op: 'set'; readonly value: JsonValue }
  | { readonly op: 'unset' }
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'setOnInsert'; readonly value: JsonValue }
  | { readonly op: 'add' | 'addUnique' | 'remove'; readonly objects: readonly JsonValue[] }
);
