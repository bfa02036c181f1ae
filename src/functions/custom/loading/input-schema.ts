import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { isStandardSchema } from '../api/standard-schema.ts';

/** The schema library's own conversion (https://standardschema.dev/json-schema), which zod has and others may have. */
interface JsonSchemaConverter {
  readonly input: (options: { readonly target: string }) => unknown;
}

/** Maximum length of a schema that is shown, in characters. */
const MAX_SCHEMA_LENGTH = 20_000;

/**
 * Returns the JSON Schema (2020-12) of a function's input, for descriptions.
 * @param input of a definition
 * @returns `undefined` if there is none, or none that can stand inside another document: references would lead elsewhere there
 */
export async function inputSchemaOf(input: unknown): Promise<JsonObject | undefined> {
  try {
    const { $schema, ...schema } = plain(isStandardSchema(input) ? converted(input) : input);
    if (Object.keys(schema).length === 0 || (typeof $schema === 'string' && !$schema.includes('2020-12'))) return undefined;
    const text = JSON.stringify(schema);
    if (text.length > MAX_SCHEMA_LENGTH || /"\$(?:ref|id|anchor|dynamicRef|dynamicAnchor)":/.test(text)) return undefined;
    // Loaded lazily: most services have no functions.
    const { default: Ajv } = await import('ajv/dist/2020.js');
    return new Ajv.default({ logger: false }).validateSchema(schema) === true ? schema : undefined;
  } catch {
    // A schema with transformations has no JSON Schema. Its function can be called all the same.
    return undefined;
  }
}

/** @throws if the library cannot convert the schema */
function converted(schema: object): unknown {
  const { jsonSchema } = Reflect.get(schema, '~standard') as { readonly jsonSchema?: JsonSchemaConverter };
  return jsonSchema?.input({ target: 'draft-2020-12' });
}

/** Returns a copy that holds nothing but JSON. */
function plain(schema: unknown): JsonObject {
  const copy: unknown = schema === undefined ? {} : JSON.parse(JSON.stringify(schema));
  return isJsonObject(copy as JsonObject) ? (copy as JsonObject) : {};
}
