import { PresentNames } from '../../../query/present-names.ts';
import { afterRenames, nameHolders, type RecordContext } from '../../../records/index.ts';
import type { FieldRenames } from '../../../schema/definition-renames.ts';
import type { Schema } from '../../../schema/model.ts';
import { normalBody, rowKinds } from '../model/rows.ts';
import { type RowPart, type Snapshot, SnapshotFault, type TablePart } from '../model/snapshot.ts';
import type { StoredLabel, StoredLabels } from '../state/labels.ts';
import type { StoredRow } from '../state/rows.ts';
import { portableRows, type SystemState, snapshotOf } from '../state/system-state.ts';
import { inStep } from './step.ts';

/** New names by former ones, by table. */
export type Renames = ReadonlyMap<string, FieldRenames>;

/**
 * Returns the fields that are renamed: those with `was`, if the system has the former name and not the new one.
 * @param note called with what is odd: a former name that is not there
 * @throws SnapshotFault if two fields were one, or if the former name is still that of a field
 */
export function renamesIn(found: Snapshot, wanted: Snapshot, note: (text: string) => void): Renames {
  const renames = new Map<string, FieldRenames>();
  for (const [className, table] of wanted.tables ?? []) {
    const before = found.tables?.get(className);
    const ofTable = before ? renamesOf(className, table, before, note) : new Map();
    if (ofTable.size > 0) renames.set(className, ofTable);
  }
  return renames;
}

function renamesOf(className: string, wanted: TablePart, found: TablePart, note: (text: string) => void): FieldRenames {
  const renames = new Map<string, string>();
  const former = new Set<string>();
  for (const [name, { was }] of wanted.fields) {
    if (was === undefined) continue;
    const place = ['tables', className, 'fields', name, 'was'];
    if (wanted.fields.has(was)) throw new SnapshotFault(place, `names ${was}, which is a field here too`);
    if (former.has(was)) throw new SnapshotFault(place, `names ${was}, as another field does`);
    former.add(was);
    if (found.fields.has(name)) {
      if (found.fields.has(was)) note(`${className}.${name}: it is there, and so is ${was}, its former name`);
    } else if (found.fields.has(was)) renames.set(was, name);
    else note(`${className}.${name}: its former name ${was} is not there, so the field is added`);
  }
  return renames;
}

/**
 * Returns what a system is made of once fields have been renamed: whatever names them follows by itself, so it is no difference.
 * @throws ServiceError for a field that cannot be renamed, with its table
 */
export function renamedState(context: RecordContext, state: SystemState, renames: Renames): SystemState {
  if (renames.size === 0) return state;
  const schema = renamedSchema(state.schema, renames);
  const names = new PresentNames(schema);
  const holders = new Map(nameHolders(context).map((holder) => [holder.className, holder]));
  const rows = new Map(
    [...state.rows].map(([part, stored]): [RowPart, readonly StoredRow[]] => {
      const kind = rowKinds[part];
      const holder = holders.get(kind.className);
      if (!holder) return [part, stored];
      const follow = (row: StoredRow): StoredRow => {
        const fields = { ...row.stored };
        for (const [className, one] of renames) Object.assign(fields, holder.rewrite(fields, { className, renames: one, names }));
        return { ...row, body: normalBody(kind, fields) };
      };
      return [part, portableRows(part, stored.map(follow), state.references)];
    }),
  );
  const labels = renamedLabels(state.labels, renames);
  return { ...state, rows, labels, snapshot: snapshotOf({ ...state, schema, rows, labels }) };
}

function renamedSchema(schema: Schema, renames: Renames): Schema {
  return [...renames].reduce(
    (now, [className, one]) => inStep(className, () => afterRenames(now, new Map([[className, one]]))),
    schema,
  );
}

function renamedLabels(labels: StoredLabels, renames: Renames): StoredLabels {
  return new Map(
    [...labels].map(([table, ofTable]): [string, ReadonlyMap<string, StoredLabel>] => {
      const names = renames.get(table);
      if (!names) return [table, ofTable];
      // What is left of labels of earlier fields goes with the rename.
      const taken = new Set([...ofTable.keys()].flatMap((field) => names.get(field) ?? []));
      const others = [...ofTable].filter(([field]) => !taken.has(field));
      return [table, new Map(others.map(([field, label]) => [names.get(field) ?? field, label]))];
    }),
  );
}
