import { own } from '../../kernel/json.ts';
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
  const field = system.store.schema().tables.get(record.className)?.fields.get(name);
  return field?.type === 'Pointer' ? (pointerOf(own(record.fields, name) ?? null) ?? null) : undefined;
}
