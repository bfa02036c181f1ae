import { own } from '../../kernel/json.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ActionRun } from '../model/action.ts';

/** A record by its class and id. */
export interface NamedRecord {
  readonly className: string;
  readonly objectId: string;
}

/**
 * What a Pointer field of the triggering record names.
 * @returns `null` where it is empty; `undefined` where the record's table has no Pointer of this name
 */
export function pointerField(
  { system, record }: Pick<ActionRun, 'system' | 'record'>,
  name: string,
): NamedRecord | null | undefined {
  const field = system.store.schema().tables.get(record.className)?.fields.get(name);
  return field?.type === 'Pointer' ? (pointerOf(own(record.fields, name) ?? null) ?? null) : undefined;
}
