import type { JsonObject } from '../../../kernel/json.ts';

/** The kinds of components that the description shares. */
export const componentKinds = ['schemas', 'parameters', 'headers', 'responses'] as const;
export type ComponentKind = (typeof componentKinds)[number];

const refTo =
  (kind: ComponentKind) =>
  (name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` });

export const schema = refTo('schemas');
export const parameter = refTo('parameters');
export const header = refTo('headers');
export const response = refTo('responses');

/** References in JSON text. Names of components have no characters that JSON or a JSON Pointer escapes. */
const reference = /"#\/components\/(schemas|parameters|headers|responses)\/([\w.-]+)"/g;

/** Returns the components that JSON text refers to. */
export function* refsIn(text: string): Generator<{ readonly kind: ComponentKind; readonly name: string }> {
  for (const [, kind, name] of text.matchAll(reference)) yield { kind: kind as ComponentKind, name: name as string };
}

/** A body of JSON. */
export const jsonOf = (of: JsonObject, more: JsonObject = {}): JsonObject => ({ 'application/json': { schema: of, ...more } });

/** JSON text in a string: what a client puts into an address. Generators of clients can send a text; few encode a parameter of JSON themselves. */
export const jsonTextOf = (of: JsonObject): JsonObject => ({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema: of,
});

export const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items });
