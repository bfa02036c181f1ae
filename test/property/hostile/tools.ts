/** Calls of every agent tool, generated from its JSON Schema, with hostile values in some of their places. */
import fc from 'fast-check';
import type { Json } from '../../support/records.ts';
import { hostileJson, hostileText } from './texts.ts';

/** A tool as `tools/list` returns it. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: Json;
}

/** Usual values of parameters, by name, so that most calls pass the check of their arguments. */
export type Usual = Readonly<Record<string, readonly string[]>>;

/** Draws the arguments of a call as JSON text. */
export function hostileArguments(tool: ListedTool, usual: Usual): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: valued(tool.inputSchema, tool.inputSchema, '', usual) },
    { weight: 1, arbitrary: hostileJson },
  );
}

const text = hostileText.map((value) => JSON.stringify(value));

function valued(schema: Json, root: Json, name: string, usual: Usual): fc.Arbitrary<string> {
  const known = (usual[name] ?? []).filter((json) => isOf(JSON.parse(json), schema));
  const shaped = shapedOf(schema, root, name, usual);
  return fc.oneof(
    { weight: known.length > 0 ? 8 : 0, arbitrary: fc.constantFrom(...(known.length > 0 ? known : ['null'])) },
    { weight: 4, arbitrary: shaped },
    { weight: 1, arbitrary: hostileJson },
  );
}

/** Draws a value that the schema allows, mostly. */
function shapedOf(schema: Json, root: Json, name: string, usual: Usual): fc.Arbitrary<string> {
  const { $ref: reference, anyOf, oneOf, enum: words, const: only, type } = schema ?? {};
  if (typeof reference === 'string') return shapedOf(resolved(root, reference), root, name, usual);
  const choices: Json[] | undefined = anyOf ?? oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => shapedOf(choice, root, name, usual)));
  if (only !== undefined) return fc.constant(JSON.stringify(only));
  if (words) return fc.constantFrom(...words.map((word: Json) => JSON.stringify(word)));
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => shapedOf({ ...schema, type: one }, root, name, usual)));
  switch (type) {
    case 'string':
      return fc.oneof(
        text,
        fc.constantFrom('"abcdefghij"', '"Accounts"', '"Name"', '"2026-11-25"', '"2026-11-25T10:00:00.000Z"'),
      );
    case 'integer':
    case 'number':
      return fc.constantFrom('0', '1', '5', '2000', '-1', '1e308', '0.5', '9007199254740993');
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'null':
      return fc.constant('null');
    case 'array':
      return fc.array(valued(schema.items ?? {}, root, name, usual), { maxLength: 3 }).map((all) => `[${all.join(',')}]`);
    case 'object':
      return objectOf(schema, root, usual);
    default:
      return fc.oneof(text, hostileJson);
  }
}

function objectOf(schema: Json, root: Json, usual: Usual): fc.Arbitrary<string> {
  const properties = Object.entries<Json>(schema.properties ?? {});
  const required: readonly string[] = schema.required ?? [];
  const named = properties.map(([name, property]) =>
    fc.tuple(
      fc.constant(name),
      fc.option(valued(property, root, name, usual), { nil: undefined, freq: required.includes(name) ? 20 : 2 }),
    ),
  );
  const isOpen = schema.additionalProperties !== false;
  const further = isOpen
    ? fc.array(
        fc.tuple(
          fc.oneof(fc.constantFrom('Name', 'City', 'PhoneNumber', 'AccountId', 'Date'), hostileText),
          fc.oneof(text, hostileJson),
        ),
        { maxLength: 2 },
      )
    : fc.constant([]);
  return fc.tuple(fc.tuple(...named), further).map(([known, more]) => {
    const pairs = [...known, ...more].filter((pair): pair is [string, string] => pair[1] !== undefined);
    return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
  });
}

function resolved(root: Json, reference: string): Json {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((key) => key !== '')
    .reduce((at: Json, key) => at?.[key], root);
}

function isOf(value: unknown, { type }: Json): boolean {
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return type === undefined || [type].flat().some((one) => one === kind || (one === 'integer' && kind === 'number'));
}
