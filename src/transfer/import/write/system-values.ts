import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import type { OwnValues } from '../../../storage/column-values.ts';
import { parseIsoDate } from '../../../values/index.ts';

/** Fields set by the service, which an import may provide. */
export const systemFieldNames = ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy'] as const;

/**
 * Returns the system fields of a row in stored form, except the objectId, which is passed like in any create.
 * @throws schemaMismatch (111)
 */
export function systemValuesOf(className: string, row: JsonObject): OwnValues {
  const known: Record<string, number | string> = {};
  for (const name of ['createdAt', 'updatedAt'] as const)
    if (Object.hasOwn(row, name)) known[name] = instantOf(row[name] as JsonValue) ?? refuse(className, name, 'Date');
  // Processes detect a changed trigger definition by this time, so it must not be set to an old one.
  if (className === '_Trigger') delete known.updatedAt;
  // An unchanged record has the time of its creation.
  else if (known.createdAt !== undefined) known.updatedAt ??= known.createdAt;
  for (const name of ['createdBy', 'updatedBy'] as const)
    if (Object.hasOwn(row, name)) known[name] = userOf(row[name] as JsonValue) ?? refuse(className, name, '*_User');
  return known;
}

const refuse = (className: string, name: string, expected: string) =>
  fail('schemaMismatch', className, name, expected, 'another value');

/** Parses an ISO 8601 text, or a Date in wire form. */
function instantOf(value: JsonValue): number | null {
  const text = isJsonObject(value) && value.__type === 'Date' ? value.iso : value;
  return typeof text === 'string' ? parseIsoDate(text) : null;
}

function userOf(value: JsonValue): string | null {
  if (!isJsonObject(value) || value.__type !== 'Pointer' || value.className !== '_User') return null;
  return typeof value.objectId === 'string' && value.objectId !== '' ? value.objectId : null;
}
