import type { KeywordDefinition } from 'ajv';

/**
 * `uniqueItems` in a time that grows with the items: Ajv's own compares objects each with each, which for 20,000 takes seconds.
 */
export const uniqueItems: KeywordDefinition = {
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
