import type { JsonObject } from '../../../kernel/json.ts';
import type { FunctionRequest, FunctionTrigger, FunctionUser } from './model.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { FunctionRecord, SystemRecords } from './system.ts';

/** The argument of a function. */
export interface FunctionContext<Input = JsonObject> {
  /** The body or the query, as validated by the definition's `input`. */
  readonly input: Input;
  /** The records of the called system, with full rights. */
  readonly system: SystemRecords;
  /** The request; `null` if a trigger calls. */
  readonly request: FunctionRequest | null;
  /** The record that fired the trigger, as it was then: after the write, before a delete. `null` if a request calls. */
  readonly record: FunctionRecord | null;
  /** The calling trigger; `null` if a request calls. */
  readonly trigger: FunctionTrigger | null;
  /** The signed-in user; `null` if there is none. */
  readonly user: FunctionUser | null;
  /** Aborted at the time limit. Pass it to `fetch` and similar functions. */
  readonly signal: AbortSignal;
}

/** A custom function. Its result is sent as `{"result": …}`, an error that it throws as `{"error": message}`. */
export type RunFunction<Input = JsonObject, Result = unknown> = (context: FunctionContext<Input>) => Result | Promise<Result>;

/** A JSON Schema (2020-12, or draft 7 if its `$schema` says so). */
export type JsonSchema = boolean | { readonly '~standard'?: never; readonly [keyword: string]: unknown };

/** The default export of a file in `FUNCTIONS_DIR` (functions.md#custom-functions). */
export interface FunctionDefinition<Input = JsonObject, Result = unknown> {
  /** Schema of the input: any Standard Schema (zod, valibot, …) or a JSON Schema. Default: any input. */
  readonly input?: StandardSchema<Input> | JsonSchema;
  /** Application ids of the systems that may call the function; for others it does not exist. Default: all. */
  readonly systems?: readonly string[];
  readonly run: RunFunction<Input, Result>;
}

/**
 * Adds types to a function definition; returns its argument unchanged.
 *
 *     export default defineFunction({
 *       input: z.object({ name: z.string() }),
 *       run: async ({ input, system }) => system.create('Tags', { Name: input.name }),
 *     });
 */
export function defineFunction<Schema extends StandardSchema, Result>(definition: {
  readonly input: Schema;
  readonly systems?: readonly string[];
  readonly run: RunFunction<OutputOf<Schema>, Result>;
}): FunctionDefinition<OutputOf<Schema>, Result>;
export function defineFunction<Input = JsonObject, Result = unknown>(definition: {
  readonly input?: JsonSchema;
  readonly systems?: readonly string[];
  readonly run: RunFunction<Input, Result>;
}): FunctionDefinition<Input, Result>;
export function defineFunction<Input = JsonObject, Result = unknown>(run: RunFunction<Input, Result>): RunFunction<Input, Result>;
export function defineFunction(definition: unknown): unknown {
  return definition;
}
