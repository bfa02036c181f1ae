import { type RefObject, useEffect, useRef, useState } from 'react';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { changedFields, type OwnWrite } from '../memory/draft.ts';
import { announce } from '../ui/announce.tsx';
import { words } from '../words/index.ts';

const SHOWN_MS = 10_000;

/** Returns the fields that others changed recently while the page was open. @param own the user's last write. */
export function useMarks(table: string, record: JsonObject, own: RefObject<OwnWrite | null>): ReadonlySet<string> {
  const { fieldLabelOf, format } = useSystem();
  const [marked, setMarked] = useState<ReadonlySet<string>>(() => new Set());
  const before = useRef(record);
  useEffect(() => {
    const changed = changedFields(before.current, record, own.current);
    before.current = record;
    if (changed.length === 0) return;
    setMarked(new Set(changed));
    announce(words.record.changedByOthers(format.list(changed.map((name) => fieldLabelOf(table, name)))));
  }, [record, own, table, fieldLabelOf, format]);
  useEffect(() => {
    if (marked.size === 0) return;
    const timer = setTimeout(() => setMarked(new Set()), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked;
}

export type { OwnWrite };
