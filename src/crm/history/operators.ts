import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { flattenForCreate, parseOperator } from '../../values/index.ts';

/** The effects of an operator by name, with operands: `Increment` with 2. */
export type Steps = ReadonlyMap<string, JsonValue>;

/**
 * Splits an operator into steps (records.md#field-operators). A malformed one, which rows written by clients may hold, becomes one step with the raw
 * value.
 */
export function stepsOf(operator: JsonObject): Steps {
  const steps = new Map<string, JsonValue>();
  const ops = own(operator, 'ops');
  for (const one of Array.isArray(ops) ? ops : [operator]) {
    const [name, value] = stepOf(one);
    const before = steps.get(name);
    steps.set(name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
  return steps;
}

function stepOf(operator: JsonValue): [name: string, value: JsonValue] {
  const name = isJsonObject(operator) ? own(operator, '__op') : undefined;
  if (!isJsonObject(operator) || typeof name !== 'string') return ['operator', operator];
  return [name, own(operator, 'amount') ?? own(operator, 'objects') ?? null];
}

/** Whether an operator changes a relation, which has no value. */
export const isOfRelation = (operator: JsonObject): boolean =>
  /^(?:AddRelation|RemoveRelation|Batch)$/.test(String(own(operator, '__op')));

/** Returns the value that an operator gives a new record; `undefined` if none, or if it is malformed. */
export function valueOnCreate(operator: JsonObject): JsonValue | undefined {
  try {
    return flattenForCreate(parseOperator(operator));
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
