import type { ErrorObject, KeywordDefinition, ValidateFunction } from 'ajv';
import type { JsonObject } from '../../kernel/json.ts';
import { bounded } from './failure.ts';
import { isStandardSchema, type StandardIssue, type StandardSchema } from './standard-schema.ts';

/** Characters of a refusal: what a person reads. */
const MAX_REFUSAL_LENGTH = 1_000;
/** Characters of an input, as JSON, up to which all reasons are looked for. Beyond it the first one has to do. */
const SMALL_INPUT_LENGTH = 10_000;

/** What an input became by its schema, or the places and reasons of the refusal, never the values. */
export type Checked = { readonly value: unknown } | { readonly refusal: string };

/**
 * Checks a function's input by its schema.
 * @param isForm whether its values are texts of a form or a query
 * @throws what the schema's own code throws
 */
export type InputCheck = (input: JsonObject, isForm: boolean) => Promise<Checked>;

/**
 * @param schema of a definition: a Standard Schema, a JSON Schema, or `undefined`
 * @throws where it is neither
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
  const exact = await compile(schema, { isForm: false, isThorough: false });
  // Most functions are never called by a form, and most calls are well.
  const ofForms = lazily(() => compile(schema, { isForm: true, isThorough: false }));
  const thorough = lazily(() => compile(schema, { isForm: false, isThorough: true }));
  const thoroughOfForms = lazily(() => compile(schema, { isForm: true, isThorough: true }));
  return async (input, isForm) => {
    const sent = isForm ? withoutBlanks(input) : input;
    const first = checkedBy(isForm ? await ofForms() : exact, sent);
    if ('value' in first || JSON.stringify(sent).length > SMALL_INPUT_LENGTH) return first;
    const all = checkedBy(isForm ? await thoroughOfForms() : await thorough(), sent);
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
  // Defaults and conversions are written into it.
  const value = structuredClone(input);
  return validate(value) ? { value } : refusal((validate.errors ?? []).map(reasonOf));
}

/** A form sends an empty text for what nobody filled in. */
function withoutBlanks(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ''));
}

interface Manner {
  /** Whether texts become what the schema asks for. */
  readonly isForm: boolean;
  /** Whether it goes on after the first reason: a text longer than `maxLength` still meets its `pattern`. */
  readonly isThorough: boolean;
}

async function compile(schema: boolean | object, { isForm, isThorough }: Manner): Promise<ValidateFunction> {
  // Loaded where it is used: most services have no JSON Schema.
  const isDraft7 = typeof schema === 'object' && /draft-0[67]/.test(String(Reflect.get(schema, '$schema')));
  const { default: Ajv } = isDraft7 ? await import('ajv') : await import('ajv/dist/2020.js');
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new Ajv.default({
    allErrors: isThorough,
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
      text = text === '' ? bounded(next, MAX_REFUSAL_LENGTH) : `${text}; …`;
      break;
    }
    text += next;
  }
  return { refusal: text.toWellFormed() || 'input: is not valid' };
}

/**
 * `uniqueItems` in a time that grows with the items: Ajv's own compares objects each with each, which for 20,000 takes seconds.
 */
const uniqueItems: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areUnique(items),
  error: { message: 'must NOT have duplicate items' },
};

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) seen.add(JSON.stringify(item, inOrder));
  return seen.size === items.length;
}

/** The order of an object's keys makes no difference (JSON Schema, "Instance Equality"). */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
