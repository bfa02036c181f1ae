import type { z } from 'zod';
import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { advise } from '../errors/advice.ts';

/** So many faults are told of one call. */
const MOST_FAULTS = 5;

/**
 * The arguments of a call, checked, with their defaults.
 * @param schema the same as JSON Schema, to say what is taken
 * @throws invalidArguments (107), with the parameters that the tool has
 */
export function readArguments<Input>(input: z.ZodType<Input>, schema: JsonObject, args: unknown): Input {
  const read = input.safeParse(args ?? {}, { reportInput: true });
  if (read.success) return read.data;
  const faults = read.error.issues.slice(0, MOST_FAULTS).map((issue) => `${placeOf(issue.path)}${wordsOf(issue)}`);
  throw advise(serviceError('invalidArguments', faults.join('; ')), { expected: parametersOf(schema) });
}

function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return place === '' ? '' : `${place.replace(/^\./, '').slice(0, 200)} `;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.map((key) => key.slice(0, 100)).join(', ')} is unknown`;
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type')
    return `must be ${issue.expected === 'int' ? 'a whole number' : `of type ${issue.expected}`}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  return issue.message;
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
