import type { ErrorObject, ValidateFunction } from 'ajv';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isStandardSchema, type StandardIssue, type StandardSchema } from './standard-schema.ts';

/** Characters of a refusal: what a person reads. */
const LONGEST = 1_000;

/**
 * What a function's input becomes by its schema.
 * @param isForm whether its values are texts of a form or a query
 * @throws functionFailed with the places and reasons, never the values
 */
export type InputCheck = (input: JsonObject, isForm: boolean) => unknown;

/**
 * @param schema of a definition: a Standard Schema, a JSON Schema, or `undefined`
 * @throws where it is neither
 */
export async function inputCheck(schema: unknown): Promise<InputCheck> {
  if (schema === undefined) return (input) => input;
  if (isStandardSchema(schema)) return (input) => checkByStandard(schema, input);
  if (typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null && !Array.isArray(schema)))
    return byJsonSchema(schema);
  throw new Error('`input` should be a Standard Schema, as zod makes them, or a JSON Schema');
}

async function checkByStandard(schema: StandardSchema, input: JsonObject): Promise<unknown> {
  const result = await schema['~standard'].validate(input);
  if (result.issues) refuse(result.issues.map(({ path, message }) => [placeOf(path), message]));
  return result.value;
}

const placeOf = (path: StandardIssue['path']): string =>
  (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');

async function byJsonSchema(schema: boolean | object): Promise<InputCheck> {
  const exact = await compile(schema, false);
  // Most functions are never called by a form.
  let ofForms: Promise<ValidateFunction> | undefined;
  return async (input, isForm) => {
    if (isForm) ofForms ??= compile(schema, true);
    const validate = (isForm && (await ofForms)) || exact;
    // Defaults and conversions are written into it.
    const checked = structuredClone(isForm ? withoutBlanks(input) : input);
    if (!validate(checked)) refuse((validate.errors ?? []).map(reasonOf));
    return checked;
  };
}

/** A form sends an empty text for what nobody filled in. */
function withoutBlanks(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ''));
}

/** @param isForm whether texts become what the schema asks for */
async function compile(schema: boolean | object, isForm: boolean): Promise<ValidateFunction> {
  // Loaded where it is used: most services have no JSON Schema.
  const isDraft7 = typeof schema === 'object' && /draft-0[67]/.test(String(Reflect.get(schema, '$schema')));
  const { default: Ajv } = isDraft7 ? await import('ajv') : await import('ajv/dist/2020.js');
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new Ajv.default({
    allErrors: true,
    useDefaults: true,
    coerceTypes: isForm ? 'array' : false,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    logger: false,
  });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  if ('$async' in validate && validate.$async) throw new Error('`input` should be a JSON Schema without $async');
  return validate;
}

function reasonOf({ keyword, instancePath, params, message }: ErrorObject): [place: string, reason: string] {
  const place = instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') return [[...place, String(params.missingProperty)].filter(Boolean).join('.'), 'is missing'];
  return [place.join('.'), message ?? 'is not valid'];
}

/** @throws functionFailed */
function refuse(reasons: readonly (readonly [place: string, reason: string])[]): never {
  let text = '';
  for (const [place, reason] of reasons) {
    const next = `${text === '' ? '' : '; '}${place || 'input'}: ${reason}`;
    if (text.length + next.length > LONGEST) {
      text = text === '' ? `${next.slice(0, LONGEST)}…`.toWellFormed() : `${text}; …`;
      break;
    }
    text += next;
  }
  return fail('functionFailed', text || 'input: is not valid');
}
