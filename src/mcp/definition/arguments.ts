import type { z } from 'zod';
import { advise } from '../../crm/refusals.ts';
import { faultsIn } from '../../crm/zod-faults.ts';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';

/**
 * The arguments of a call, checked, with their defaults.
 * @param schema the same as JSON Schema, to say what is taken
 * @throws invalidArguments (107), with the parameters that the tool has
 */
export function readArguments<Input>(input: z.ZodType<Input>, schema: JsonObject, args: unknown): Input {
  const read = input.safeParse(args ?? {}, { reportInput: true });
  if (read.success) return read.data;
  throw advise(serviceError('invalidArguments', faultsIn(read.error)), { expected: parametersOf(schema) });
}

/** `table: string (required), limit: integer …` */
function parametersOf({ properties = {}, required = [] }: JsonObject): string {
  const needed: ReadonlySet<unknown> = new Set(required as string[]);
  const told = Object.entries(properties as JsonObject).map(([name, part]) => {
    const { type, enum: values } = part as { type?: string; enum?: string[] };
    const kind = values ? values.join('|') : (type ?? 'any');
    return `${name}: ${kind}${needed.has(name) ? ' (required)' : ''}`;
  });
  return told.length === 0 ? 'It takes no arguments' : `It takes ${told.join(', ')}`;
}
