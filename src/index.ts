/** Public API of the package `record-data-service`, for custom functions. Reference: functions.md#custom-functions. */
export { z } from 'zod';
export {
  defineFunction,
  type FunctionContext,
  type FunctionDefinition,
  type JsonSchema,
  type RunFunction,
} from './functions/custom/api/definition.ts';
export type { FunctionRequest, FunctionTrigger, FunctionUser } from './functions/custom/api/model.ts';
export type { StandardSchema } from './functions/custom/api/standard-schema.ts';
export type {
  CreatedRecord,
  FieldValues,
  FindOptions,
  FunctionRecord,
  ReadOptions,
  RecordOf,
  SystemRecords,
  Where,
} from './functions/custom/api/system.ts';
export type { JsonObject, JsonValue } from './kernel/json.ts';
