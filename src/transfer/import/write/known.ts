import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import type { OwnValues } from '../../../storage/column-values.ts';
import { parseIsoDate } from '../../../values/index.ts';

/** What only the service sets, and an import may bring along. */
export const keptNames = ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy'] as const;

/**
 * What a row says of its record's past, as it is stored; its objectId is chosen as by any create.
 * @throws schemaMismatch (111)
 */
export function knownOf(className: string, row: JsonObject): OwnValues {
  const known: Record<string, number | string> = {};
  for (const name of ['createdAt', 'updatedAt'] as const)
    if (Object.hasOwn(row, name)) known[name] = instantOf(row[name] as JsonValue) ?? refuse(className, name, 'Date');
  // By the time of its change processes tell that a definition is another one than they remember under its id.
  if (className === '_Trigger') delete known.updatedAt;
  // A record that was not changed since has the time of its creation.
  else if (known.createdAt !== undefined) known.updatedAt ??= known.createdAt;
  for (const name of ['createdBy', 'updatedBy'] as const)
    if (Object.hasOwn(row, name)) known[name] = userOf(row[name] as JsonValue) ?? refuse(className, name, '*_User');
  return known;
}

const refuse = (className: string, name: string, expected: string) =>
  fail('schemaMismatch', className, name, expected, 'another value');

/** As records carry it, or as a Date. */
function instantOf(value: JsonValue): number | null {
  const text = isJsonObject(value) && value.__type === 'Date' ? value.iso : value;
  return typeof text === 'string' ? parseIsoDate(text) : null;
}

function userOf(value: JsonValue): string | null {
  if (!isJsonObject(value) || value.__type !== 'Pointer' || value.className !== '_User') return null;
  return typeof value.objectId === 'string' && value.objectId !== '' ? value.objectId : null;
}
