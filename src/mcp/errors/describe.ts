import { type Advice, adviceOf } from '../../crm/refusals.ts';
import type { ErrorKey } from '../../errors/catalogue.ts';
import { isInDoubt, ServiceError, serviceError } from '../../errors/fail.ts';
import { adviceByMessage } from './by-message.ts';
import { general } from './general.ts';

/** An error as shown to an agent: code and message as in REST, then advice. */
export interface ToolError extends Advice {
  readonly code: number;
  readonly error: string;
  /** As in REST: the write may have been executed. */
  readonly inDoubt?: true;
}

/** Texts for errors that have no message in REST. Reference: errors.md#form-of-an-error. */
const withoutMessage: Partial<Record<ErrorKey, string>> = { unknownFile: 'The file is not known' };

/** Returns the error for an agent. Unexpected faults reveal nothing. */
export function describeError(error: unknown): ToolError {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  const { key, message } = shown;
  const advice = adviceOf(shown) ?? expectedForm(shown) ?? adviceByMessage(shown) ?? general[key] ?? {};
  return {
    code: shown.code ?? shown.status,
    error: message || (withoutMessage[key] ?? key),
    ...(isInDoubt(shown) && { inDoubt: true }),
    ...advice,
  };
}

/** Returns the error as text, beginning with the unchanged message. */
export function errorText({ code, error, expected, next }: ToolError): string {
  const parts = [`${error} (code ${code}).`];
  if (expected !== undefined) parts.push(`${expected}.`);
  if (next !== undefined) parts.push(`Next: ${next}.`);
  return parts.join(' ');
}

/** Expected JSON forms, by the type that the message of error 111 names. */
const forms: ReadonlyMap<string, string> = new Map([
  ['String', 'a JSON string'],
  ['HTML/XML', 'a JSON string'],
  ['Number', 'a JSON number, such as 12.5'],
  ['Boolean', 'true or false'],
  ['Date', '{"__type":"Date","iso":"2026-01-31T09:00:00.000Z"}'],
  ['Array', 'a JSON array; of a multi-select field an array of Pointers'],
  ['Object', 'a JSON object'],
  ['File', '{"__type":"File","name":"<stored name>","url":"<url>"} as an upload answers it'],
  ['PrivateFile', '{"__type":"File","name":"<stored name>","url":"<url>"} as an upload answers it'],
  ['Pointer', '{"__type":"Pointer","className":"<Table>","objectId":"<objectId>"}'],
  ['Relation', '{"__op":"AddRelation","objects":[<Pointers>]}'],
  ['ACL', '{"<user id or role:Name>":{"read":true,"write":true}}'],
]);

/** E.g. `This is not a valid Date`. */
function formOfType(message: string): Advice {
  const type = message.split(' ').at(-1) ?? '';
  return sending(type, type === 'File' ? 'Upload-Public-File' : 'Get-Schema');
}

/** Error 111: `...; expected <X> but got <Y>`. Reference: errors.md#codes. */
const mismatch = /; expected ([A-Za-z/]+)(?:<([^>]+)>)? but got /;

/** Returns what to send instead of a value of the wrong type; `undefined` for other errors. */
function expectedForm({ key, message }: ServiceError): Advice | undefined {
  if (key === 'notAType') return formOfType(message);
  if (key !== 'schemaMismatch' && key !== 'placeMismatch') return undefined;
  const [, type = '', target] = mismatch.exec(message) ?? [];
  if (type === 'Pointer' && target !== undefined)
    return {
      expected: `Send {"__type":"Pointer","className":"${target}","objectId":"<objectId>"}; ids: Get-Lookup-Values, or Get-Data on ${target}`,
      next: 'Get-Lookup-Values',
    };
  return sending(type, 'Get-Schema');
}

function sending(type: string, next: string): Advice {
  const form = forms.get(type);
  return { ...(form === undefined ? {} : { expected: `Send ${form}` }), next };
}
