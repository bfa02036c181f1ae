import type { ErrorKey } from '../../errors/catalogue.ts';
import { ServiceError, serviceError } from '../../errors/fail.ts';
import { type Advice, adviceOf } from './advice.ts';
import { expectedForm } from './expected-form.ts';

/** An error as an agent hears of it: code and message as REST has them, then what helps. */
export interface ToolError extends Advice {
  readonly code: number;
  readonly error: string;
}

/** By the error's key: the general advice. Where the form depends on the message, it is made of that. */
const general: Partial<Record<ErrorKey, Advice>> = {
  objectNotFound: { expected: 'The record does not exist, or you may not see it', next: 'Get-Data' },
  classMissing: { expected: 'Names of tables are case-sensitive', next: 'Get-Schema with tablesNameOnly' },
  invalidClassName: { expected: 'A letter or underscore first, then letters, digits, underscore', next: 'Get-Schema' },
  invalidFieldName: { expected: 'A letter first, then letters, digits, underscore', next: 'Get-Schema' },
  badQuery: { next: 'Get-Schema' },
  invalidWhere: {
    expected:
      'where is an object such as {"Name":"Dana","createdAt":{"$gte":{"__type":"Date","iso":"2026-01-01T00:00:00.000Z"}}}',
  },
  duplicateValue: { next: 'Find-Duplicates' },
  permissionDenied: { next: 'Get-My-Access' },
  fieldDenied: { expected: 'Leave the field out', next: 'Get-Schema' },
  masterKeyRequired: {
    expected: 'Schemas are for keys, and for administrators with mcp:edit-page-and-schema',
    next: 'Get-My-Access',
  },
  otherUser: { expected: 'Users are written by keys and administrators', next: 'Get-My-Access' },
  unknownFile: {
    expected: 'Upload the file first and send the name and url that the upload answers',
    next: 'Upload-Public-File',
  },
  passwordPolicy: { expected: 'At least 8 characters with a lower-case letter, an upper-case letter and a digit' },
  timeout: { expected: 'Narrow the where, or ask for fewer records', next: 'Count-Data' },
  changedMeanwhile: { expected: 'Read it again and send the change with its present version' },
  outOfStorage: { next: 'Get-System-Info' },
};

/** What an agent hears of an error; faults of ours show nothing of themselves. */
export function describeError(error: unknown): ToolError {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  const { key, message } = shown;
  const advice = adviceOf(shown) ?? expectedForm(shown) ?? general[key] ?? {};
  return { code: shown.code ?? shown.status, error: message || key, ...advice };
}

/** The same as a text: the message first, unchanged. */
export function errorText({ code, error, expected, next }: ToolError): string {
  const parts = [`${error} (code ${code}).`];
  if (expected !== undefined) parts.push(`${expected}.`);
  if (next !== undefined) parts.push(`Next: ${next}.`);
  return parts.join(' ');
}
