import { type JsonValue, own } from '../../../kernel/json.ts';
import { type LabelsPart, TABLE_ITSELF } from '../model/snapshot.ts';
import { entriesAt, knownObjectAt, type Place, refuse } from './assertions.ts';
import { MAX_LABELS, MAX_TABLES } from './limits.ts';

/** Parses labels: `{<table>: {label?, fields?: {<field>: <label>}}}`. @throws SnapshotFault */
export function readLabels(value: JsonValue, place: Place): ReadonlyMap<string, LabelsPart> {
  const labels = new Map<string, Map<string, string>>();
  for (const [table, body] of entriesAt(value, place, MAX_TABLES)) {
    const ofTable = new Map<string, string>();
    const read = knownObjectAt(body, [...place, table], ['label', 'fields']);
    const label = own(read, 'label');
    if (label !== undefined) ofTable.set(TABLE_ITSELF, labelAt(label, [...place, table, 'label']));
    for (const [field, text] of entriesAt(own(read, 'fields') ?? {}, [...place, table, 'fields'], MAX_LABELS)) {
      if (field === TABLE_ITSELF) refuse([...place, table, 'fields'], 'have an empty name');
      ofTable.set(field, labelAt(text, [...place, table, 'fields', field]));
    }
    labels.set(table, ofTable);
  }
  return labels;
}

const labelAt = (value: JsonValue, place: Place): string =>
  typeof value === 'string' && value !== '' ? value : refuse(place, 'is not a text');

/** Adds the labels that stand beside fields. @throws SnapshotFault if a field has another one in the list of labels */
export function withFieldLabels(
  labels: ReadonlyMap<string, LabelsPart>,
  beside: readonly (readonly [className: string, LabelsPart])[],
): ReadonlyMap<string, LabelsPart> {
  const all = new Map(labels);
  for (const [className, ofFields] of beside) {
    const listed = labels.get(className);
    for (const [field, label] of ofFields)
      if ((listed?.get(field) ?? label) !== label)
        refuse(['tables', className, 'fields', field, 'dictionary'], 'is another label than that in the list of labels');
    if (ofFields.size > 0) all.set(className, new Map([...(listed ?? []), ...ofFields]));
  }
  return all;
}
