import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { flattenForCreate, parseOperator } from '../../values/index.ts';

/** What an operator does, by its name, and with what: `Increment` with 2. */
export type Steps = ReadonlyMap<string, JsonValue>;

/** An operator (SPEC "Field operators on update") as its steps; one that is malformed, as rows that clients wrote may have it, is a step as it is. */
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

/** What an operator leaves in a new record; `undefined` where it leaves nothing, or is malformed. */
export function valueOnCreate(operator: JsonObject): JsonValue | undefined {
  try {
    return flattenForCreate(parseOperator(operator));
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
