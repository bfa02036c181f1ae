import type { ErrorObject, KeywordDefinition, ValidateFunction } from 'ajv';
import type { JsonObject } from '../../../kernel/json.ts';
import { isStandardSchema, type StandardIssue, type StandardSchema } from '../api/standard-schema.ts';
import { truncate } from './failure.ts';

/** Maximum length of a rejection message in characters. */
const MAX_REFUSAL_LENGTH = 1_000;
/** Length of an input as JSON, in characters, up to which all errors are reported; beyond it only the first one. */
const SMALL_INPUT_LENGTH = 10_000;

/** The validated input, or the paths and reasons of the rejection; never the values. */
export type Checked = { readonly value: unknown } | { readonly refusal: string };

/**
 * Validates the input of a function.
 * @param isForm whether all values are texts of a form or a query
 * @throws errors of the schema's own code
 */
export type InputCheck = (input: JsonObject, isForm: boolean) => Promise<Checked>;

/**
 * @param schema of a definition: a Standard Schema, a JSON Schema, or `undefined`
 * @throws if it is neither
 */
export async function inputCheck(schema: unknown): Promise<InputCheck> {
  if (schema === undefined) return async (value) => ({ value });
  if (isStandardSchema(schema)) return (input) => checkByStandard(schema, input);
  if (typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null && !Array.isArray(schema)))
    return byJsonSchema(schema);
  throw new Error('`input` should be a Standard Schema, as zod makes them, or a JSON Schema');
}

async function checkByStandard(schema: StandardSchema, input: JsonObject): Promise<Checked> {
  const result = await schema['~standard'].validate(input);
  if (result.issues) return refusal(result.issues.map(({ path, message }) => [placeOf(path), String(message)]));
  return { value: result.value };
}

const placeOf = (path: StandardIssue['path']): string =>
  (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');

async function byJsonSchema(schema: boolean | object): Promise<InputCheck> {
  const exact = await compile(schema, { isForm: false, findsAllErrors: false });
  // Compiled lazily: most functions are never called by a form, and most calls are valid.
  const forForms = lazily(() => compile(schema, { isForm: true, findsAllErrors: false }));
  const thorough = lazily(() => compile(schema, { isForm: false, findsAllErrors: true }));
  const thoroughForForms = lazily(() => compile(schema, { isForm: true, findsAllErrors: true }));
  return async (input, isForm) => {
    const sent = isForm ? withoutBlanks(input) : input;
    const first = checkedBy(isForm ? await forForms() : exact, sent);
    if ('value' in first || JSON.stringify(sent).length > SMALL_INPUT_LENGTH) return first;
    const all = checkedBy(isForm ? await thoroughForForms() : await thorough(), sent);
    return 'value' in all ? first : all;
  };
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function checkedBy(validate: ValidateFunction, input: JsonObject): Checked {
  // A copy, because Ajv writes defaults and conversions into the value.
  const value = structuredClone(input);
  return validate(value) ? { value } : refusal((validate.errors ?? []).map(reasonOf));
}

/** Removes empty texts: forms send them for fields that were not filled in. */
function withoutBlanks(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ''));
}

interface CompileOptions {
  /** Whether texts are converted to the types of the schema. */
  readonly isForm: boolean;
  /** Whether to continue after the first error. Then e.g. `pattern` is evaluated although the text exceeds `maxLength`. */
  readonly findsAllErrors: boolean;
}

async function compile(schema: boolean | object, { isForm, findsAllErrors }: CompileOptions): Promise<ValidateFunction> {
  // Loaded lazily: most services have no JSON Schema.
  const isDraft7 = typeof schema === 'object' && /draft-0[67]/.test(String(Reflect.get(schema, '$schema')));
  const { default: Ajv } = isDraft7 ? await import('ajv') : await import('ajv/dist/2020.js');
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new Ajv.default({
    allErrors: findsAllErrors,
    useDefaults: true,
    coerceTypes: isForm ? 'array' : false,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    logger: false,
  });
  addFormats.default(ajv);
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems);
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

function refusal(reasons: readonly (readonly [place: string, reason: string])[]): Checked {
  let text = '';
  for (const [place, reason] of reasons) {
    const next = `${text === '' ? '' : '; '}${place || 'input'}: ${reason}`;
    if (text.length + next.length > MAX_REFUSAL_LENGTH) {
      text = text === '' ? truncate(next, MAX_REFUSAL_LENGTH) : `${text}; …`;
      break;
    }
    text += next;
  }
  return { refusal: text.toWellFormed() || 'input: is not valid' };
}

/** `uniqueItems` with hashing. Ajv compares objects pairwise, which takes seconds for 20,000 items. */
const uniqueItems: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isRequired: boolean, items: readonly unknown[]) => !isRequired || areUnique(items),
  error: { message: 'must NOT have duplicate items' },
};

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) seen.add(JSON.stringify(item, withSortedKeys));
  return seen.size === items.length;
}

/** Sorts keys: their order is irrelevant (JSON Schema, "Instance Equality"). */
function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
