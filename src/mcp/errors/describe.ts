import { type Advice, adviceOf } from '../../crm/refusals.ts';
import type { ErrorKey } from '../../errors/catalogue.ts';
import { isInDoubt, ServiceError, serviceError } from '../../errors/fail.ts';
import { adviceByMessage } from './by-message.ts';
import { expectedForm } from './expected-form.ts';
import { general } from './general.ts';

/** An error as an agent hears of it: code and message as REST has them, then what helps. */
export interface ToolError extends Advice {
  readonly code: number;
  readonly error: string;
  /** As REST says it of a write that may have been carried out. */
  readonly inDoubt?: true;
}

/** SPEC "Errors" 1: these have no message. */
const UNTOLD: Partial<Record<ErrorKey, string>> = { unknownFile: 'The file is not known' };

/** What an agent hears of an error; faults of ours show nothing of themselves. */
export function describeError(error: unknown): ToolError {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  const { key, message } = shown;
  const advice = adviceOf(shown) ?? expectedForm(shown) ?? adviceByMessage(shown) ?? general[key] ?? {};
  return {
    code: shown.code ?? shown.status,
    error: message || (UNTOLD[key] ?? key),
    ...(isInDoubt(shown) && { inDoubt: true }),
    ...advice,
  };
}

/** The same as a text: the message first, unchanged. */
export function errorText({ code, error, expected, next }: ToolError): string {
  const parts = [`${error} (code ${code}).`];
  if (expected !== undefined) parts.push(`${expected}.`);
  if (next !== undefined) parts.push(`Next: ${next}.`);
  return parts.join(' ');
}
