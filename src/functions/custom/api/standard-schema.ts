/**
 * The common interface of schema libraries (zod, valibot, arktype, …), as far as it is used here: https://standardschema.dev.
 * @typeParam Output the type of a validated value
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Why a value is rejected. */
export interface StandardIssue {
  readonly message: string;
  /** Path to the value; omitted for the value as a whole. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of a validated value. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Whether a value is a schema of a library; some libraries implement schemas as functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function';
}
