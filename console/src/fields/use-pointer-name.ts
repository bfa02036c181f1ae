import type { PointerNames } from '../../../src/console/protocol/protocol.ts';
import { useRecordQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { titleOf } from '../model/record.ts';
import { type PointerValue, pointerName } from '../model/values.ts';

/** Names that this page has met: of what the user chose. */
const met = new Map<string, string>();

export function metName({ className, objectId }: PointerValue): string | null {
  return met.get(`${className}/${objectId}`) ?? null;
}

export function meetName(className: string, objectId: string, name: string): void {
  met.set(`${className}/${objectId}`, name);
}

/** What a Pointer that was typed points at is called; where no answer has told, its record is asked for. `null`: not known, or not there. */
export function usePointerName(pointer: PointerValue | null, names: PointerNames): string | null {
  const { appId, tables } = useSystem();
  const known = pointer && (pointerName(pointer, names) ?? metName(pointer));
  const table = pointer ? tables.get(pointer.className) : undefined;
  const isAsked = pointer !== null && known === null && table?.may.get === true;
  const record = useRecordQuery(appId, pointer?.className ?? '', pointer?.objectId ?? '', isAsked);
  if (known || !record.data || !table) return known;
  return titleOf(table, record.data.record, record.data.names) || null;
}
