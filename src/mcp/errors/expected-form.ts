import type { Advice } from '../../crm/refusals.ts';
import type { ServiceError } from '../../errors/fail.ts';

/** By the type that a message of 111 names. */
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

/** `This is not a valid Date`. */
function formOfType(message: string): Advice {
  const type = message.split(' ').at(-1) ?? '';
  return sending(type, type === 'File' ? 'Upload-Public-File' : 'Get-Schema');
}

/** SPEC "Errors" 111: `...; expected <X> but got <Y>`. */
const mismatch = /; expected ([A-Za-z/]+)(?:<([^>]+)>)? but got /;

/** What to send in place of a value of a wrong type; `undefined` for other errors. */
export function expectedForm({ key, message }: ServiceError): Advice | undefined {
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
