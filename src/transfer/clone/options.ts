import type { Rules } from './anonymise/index.ts';

/** What is cloned. Reference: clone.md#what-is-cloned. */
export type Extent =
  | { readonly kind: 'all' }
  /** Definitions and lookup tables. */
  | { readonly kind: 'schema' }
  /** Of business tables only records created or changed since a time, in milliseconds since 1970, and those that they point at. */
  | { readonly kind: 'since'; readonly since: number };

/** What a clone takes of a system. */
export interface CloneOptions {
  readonly extent: Extent;
  readonly withFiles: boolean;
  /** Whether users keep their passwords. */
  readonly withLogins: boolean;
  /** What is anonymised; `null`: nothing. */
  readonly rules: Rules | null;
}
