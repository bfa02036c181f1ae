import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';

/** What clients are told of parts whose checks JSON Schema cannot say, or not briefly. */
const told = new WeakMap<object, JsonObject>();

/** A part of a tool's input that is told of in words of its own. @param json its JSON Schema */
export function tell<T extends z.ZodType>(type: T, json: JsonObject): T {
  told.set(type, json);
  return type;
}

/** The JSON Schema of a tool's input, as short as it can be: agents pay for each word of it. */
export function schemaOf(input: z.ZodType): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const json = told.get(zodSchema);
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
