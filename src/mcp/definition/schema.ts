import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';

/** JSON Schemas for types whose checks JSON Schema cannot express, or only at length. */
const overrides = new WeakMap<object, JsonObject>();

/** Overrides the JSON Schema of a type. @param json the JSON Schema shown to clients */
export function withJsonSchema<T extends z.ZodType>(type: T, json: JsonObject): T {
  overrides.set(type, json);
  return type;
}

/** Returns the JSON Schema of a tool's input, as short as possible, because it takes up the agent's context. */
export function schemaOf(input: z.ZodType): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const json = overrides.get(zodSchema);
      if (json) replace(jsonSchema, json);
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  }) as JsonObject;
  return schema;
}

function replace(target: object, source: JsonObject): void {
  for (const key of Object.keys(target)) delete (target as JsonObject)[key];
  Object.assign(target, source);
}
