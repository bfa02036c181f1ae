import { canonicalJson, type JsonValue } from '../../../kernel/json.ts';
import type { RowKind } from '../model/rows.ts';
import { byName, type LabelsPart, type NamedRow, sorted } from '../model/snapshot.ts';
import type { StoredLabels } from '../state/labels.ts';
import type { StoredRow } from '../state/rows.ts';
import type { LabelDelta, RowDelta } from './delta.ts';

/**
 * Compares the records of a part. They are matched by table and name. Several of one name are matched by their content first, then in order.
 * @param isComplete whether records that the snapshot lacks go
 */
export function diffRows(
  kind: RowKind,
  found: readonly StoredRow[],
  wanted: readonly NamedRow[],
  isComplete: boolean,
): RowDelta[] {
  const foundBy = grouped(found);
  const wantedBy = grouped(wanted);
  const deltas: RowDelta[] = [];
  for (const key of [...new Set([...foundBy.keys(), ...wantedBy.keys()])].sort(byName)) {
    const [there, left] = withoutEqual(foundBy.get(key) ?? [], wantedBy.get(key) ?? []);
    for (const [index, row] of left.entries()) {
      const other = there[index];
      deltas.push(other ? changeOf(kind, other, row) : { op: 'add', kind, wanted: row });
    }
    if (isComplete) for (const row of there.slice(left.length)) deltas.push({ op: 'remove', kind, found: row });
  }
  return deltas;
}

function grouped<R extends NamedRow>(rows: readonly R[]): Map<string, R[]> {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.table, row.name]);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function withoutEqual(found: readonly StoredRow[], wanted: readonly NamedRow[]): [StoredRow[], NamedRow[]] {
  const alike = new Map<string, StoredRow[]>();
  for (const row of found) {
    const text = canonicalJson(row.body);
    const rows = alike.get(text);
    if (rows) rows.push(row);
    else alike.set(text, [row]);
  }
  const left = wanted.filter(({ body }) => alike.get(canonicalJson(body))?.shift() === undefined);
  const there = new Set([...alike.values()].flat());
  return [found.filter((row) => there.has(row)), left];
}

function changeOf(kind: RowKind, found: StoredRow, wanted: NamedRow): RowDelta {
  const differs = (name: string) => textAt(found, name) !== textAt(wanted, name);
  return { op: 'change', kind, wanted, found, changed: kind.fields.filter(differs) };
}

const textAt = ({ body }: NamedRow, name: string): string => canonicalJson((body[name] ?? null) as JsonValue);

/** Compares labels. @param isComplete whether labels that the snapshot lacks go */
export function diffLabels(found: StoredLabels, wanted: ReadonlyMap<string, LabelsPart>, isComplete: boolean): LabelDelta[] {
  const tables = new Set([...(isComplete ? found.keys() : []), ...wanted.keys()]);
  return [...tables].sort(byName).flatMap((table): LabelDelta[] => {
    const [before, after] = [found.get(table), wanted.get(table)];
    const set = [...(after ?? [])].flatMap(([field, label]) => {
      const there = before?.get(field);
      return there?.label === label ? [] : [{ field, label, found: there }];
    });
    const removed = isComplete
      ? sorted(before ?? []).flatMap(([field, there]) => (after?.has(field) ? [] : [{ field, found: there }]))
      : [];
    return set.length + removed.length > 0 ? [{ table, set, removed }] : [];
  });
}
