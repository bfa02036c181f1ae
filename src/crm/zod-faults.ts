import type { z } from 'zod';

/** So many faults are told of one call. */
const MAX_FAULTS = 5;

/** What is wrong, place by place, in the words of this service. @param start the path of the whole */
export function faultsIn({ issues }: z.core.$ZodError, start: readonly PropertyKey[] = []): string {
  return issues
    .slice(0, MAX_FAULTS)
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
