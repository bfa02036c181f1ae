/** What functions of an operator import from `record-data-service` (CONTRACT "Operator's functions"). */
export { z } from 'zod';
export type { FunctionRequest, FunctionTrigger, FunctionUser } from './functions/model.ts';
export {
  defineFunction,
  type FunctionContext,
  type FunctionDefinition,
  type JsonSchema,
  type RunFunction,
} from './functions/operator/definition.ts';
export type { StandardSchema } from './functions/operator/standard-schema.ts';
export type {
  CreatedRecord,
  FieldValues,
  FindOptions,
  FunctionRecord,
  ReadOptions,
  RecordOf,
  SystemRecords,
  Where,
} from './functions/operator/system.ts';
export type { JsonObject, JsonValue } from './kernel/json.ts';
