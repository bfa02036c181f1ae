import type { z } from 'zod';

/** Maximum number of faults reported for one call. */
const MAX_FAULTS = 5;

/** Describes what is wrong, place by place, in the wording of this service. @param start path of the whole value */
export function faultsIn({ issues }: z.core.$ZodError, start: readonly PropertyKey[] = []): string {
  return issues
    .slice(0, MAX_FAULTS)
    .map((issue) => faultAt([...start, ...issue.path], wordsOf(issue)))
    .join('; ');
}

/** A fault in a text that was sent as JSON is a sentence of its own, hence the colon. */
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

/** Whether the message is zod's default, so that the schema has no wording of its own. */
const isOfZod = ({ message }: z.core.$ZodIssue): boolean => /^(Invalid input|Too )/.test(message);

const units: ReadonlyMap<string, string> = new Map([
  ['string', ' characters'],
  ['array', ' items'],
]);

/** Wording for a violated bound without a message of its own; those of zod are not user-friendly. */
function boundIn(issue: z.core.$ZodIssue): string | undefined {
  if ((issue.code !== 'too_small' && issue.code !== 'too_big') || !/^Too /.test(issue.message)) return undefined;
  const unit = units.get(issue.origin) ?? '';
  const isStrict = issue.inclusive === false;
  if (issue.code === 'too_small') return `must be ${isStrict ? 'over' : 'at least'} ${issue.minimum}${unit}`;
  return `must be ${isStrict ? 'under' : 'at most'} ${issue.maximum}${unit}`;
}
