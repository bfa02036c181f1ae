import { own } from '../../kernel/json.ts';
import { nameIn, presentName } from '../../schema/former-names.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ActionRun } from '../model/action.ts';

/** A record by class and id. */
export interface NamedRecord {
  readonly className: string;
  readonly objectId: string;
}

/**
 * Returns the record that a Pointer field of the triggering record points at.
 * @returns `null` if the field is empty; `undefined` if the table has no Pointer field of this name
 */
export function pointerField(
  { system, record }: Pick<ActionRun, 'system' | 'record'>,
  name: string,
): NamedRecord | null | undefined {
  const table = system.store.schema().tables.get(record.className);
  // The definition, or the record, may have been read before the field was renamed.
  const field = table?.fields.get(presentName(table, name));
  if (!table || field?.type !== 'Pointer') return undefined;
  return pointerOf(own(record.fields, nameIn(record.fields, table, field.name)) ?? null) ?? null;
}
