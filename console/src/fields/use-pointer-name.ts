import type { PointerNames } from '../../../src/console/protocol/protocol.ts';
import { useRecordQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { titleOf } from '../model/record.ts';
import { type PointerValue, pointerName } from '../model/values.ts';

/** Names of records that the user chose on this page. */
const met = new Map<string, string>();

export function metName({ className, objectId }: PointerValue): string | null {
  return met.get(`${className}/${objectId}`) ?? null;
}

export function meetName(className: string, objectId: string, name: string): void {
  met.set(`${className}/${objectId}`, name);
}

/**
 * Returns the name of the record that a typed Pointer refers to, and fetches it if no answer has contained it. `null`: unknown, or the record does
 * not exist.
 */
export function usePointerName(pointer: PointerValue | null, names: PointerNames): string | null {
  const { appId, tables } = useSystem();
  const known = pointer && (pointerName(pointer, names) ?? metName(pointer));
  const table = pointer ? tables.get(pointer.className) : undefined;
  const isAsked = pointer !== null && known === null && table?.may.get === true;
  const record = useRecordQuery(appId, pointer?.className ?? '', pointer?.objectId ?? '', isAsked);
  if (known || !record.data || !table) return known;
  return titleOf(table, record.data.record, record.data.names) || null;
}
