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
  throw advise(serviceError('invalidArguments', faultsIn(read.error)), { expected: parametersOf(schema) });
}

/** What is wrong, place by place, in the words of this service. @param start the path of the whole */
export function faultsIn({ issues }: z.core.$ZodError, start: readonly PropertyKey[] = []): string {
  return issues
    .slice(0, MOST_FAULTS)
    .map((issue) => faultAt([...start, ...issue.path], wordsOf(issue)))
    .join('; ');
}

/** What is wrong with a text that was sent as JSON is a sentence of its own. */
function faultAt(path: readonly PropertyKey[], words: string): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  if (place === '') return words;
  return `${place.replace(/^\./, '').slice(0, 200)}${words.startsWith('Invalid JSON: ') ? ':' : ''} ${words}`;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.map((key) => key.slice(0, 100)).join(', ')} is unknown`;
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type') return isOfZod(issue) ? `must be of type ${issue.expected}` : issue.message;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  return boundIn(issue) ?? issue.message;
}

/** Whether a part of the input has no words of its own for a wrong value. */
const isOfZod = ({ message }: z.core.$ZodIssue): boolean => /^(Invalid input|Too )/.test(message);

const units: ReadonlyMap<string, string> = new Map([
  ['string', ' characters'],
  ['array', ' items'],
]);

/** The words for a bound that has none of its own: those of zod are not for people. */
function boundIn(issue: z.core.$ZodIssue): string | undefined {
  if ((issue.code !== 'too_small' && issue.code !== 'too_big') || !/^Too /.test(issue.message)) return undefined;
  const unit = units.get(issue.origin) ?? '';
  const isStrict = issue.inclusive === false;
  if (issue.code === 'too_small') return `must be ${isStrict ? 'over' : 'at least'} ${issue.minimum}${unit}`;
  return `must be ${isStrict ? 'under' : 'at most'} ${issue.maximum}${unit}`;
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
