import type { JsonObject } from '../../kernel/json.ts';
import type { FunctionRequest, FunctionTrigger, FunctionUser } from './model.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { FunctionRecord, SystemRecords } from './system.ts';

/** What a function is handed. */
export interface FunctionContext<Input = JsonObject> {
  /** The body or the query, as the definition's `input` has made it. */
  readonly input: Input;
  /** The records of the system that was called, with full rights. */
  readonly system: SystemRecords;
  /** The call; `null` where a trigger calls. */
  readonly request: FunctionRequest | null;
  /** The record that fired the trigger, as it was then: after the write, before a delete. `null` where a request calls. */
  readonly record: FunctionRecord | null;
  /** The trigger that calls; `null` where a request does. */
  readonly trigger: FunctionTrigger | null;
  /** Who is signed in; `null` where nobody is. */
  readonly user: FunctionUser | null;
  /** Aborted when the time is up: hand it to `fetch` and the like. */
  readonly signal: AbortSignal;
}

/** A function: its answer is `{"result": …}`, what it throws is `{"error": message}`. */
export type RunFunction<Input = JsonObject, Result = unknown> = (context: FunctionContext<Input>) => Result | Promise<Result>;

/** A JSON Schema (2020-12, or draft 7 where its `$schema` says so). */
export type JsonSchema = boolean | { readonly '~standard'?: never; readonly [keyword: string]: unknown };

/** What a file of `FUNCTIONS_DIR` exports as its default (CONTRACT "Operator's functions"). */
export interface FunctionDefinition<Input = JsonObject, Result = unknown> {
  /** What calls have to bring: any Standard Schema (zod, valibot, …) or a JSON Schema. Left out: anything. */
  readonly input?: StandardSchema<Input> | JsonSchema;
  /** Application ids of the systems that it is for: for others it does not exist. Left out: all that the service has. */
  readonly systems?: readonly string[];
  readonly run: RunFunction<Input, Result>;
}

/**
 * Types a function; it changes nothing.
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
