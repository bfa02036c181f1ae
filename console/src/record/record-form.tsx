import { useState } from 'react';
import type { FieldModel, PointerNames, TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { ValueView } from '../fields/value-view.tsx';
import { isEmpty, isWide, pageFields } from '../model/record.ts';
import { words } from '../words/index.ts';
import { FieldRow } from './field-row.tsx';
import styles from './form.module.css';
import type { Editor } from './use-editor.ts';

/** Tables with more fields show the empty ones on demand. */
const MANY_FIELDS = 40;

interface Props {
  readonly table: TableModel;
  readonly record: JsonObject;
  readonly names: PointerNames;
  /** Without an editor, the fields are read-only. */
  readonly editor?: Editor;
  readonly marked: ReadonlySet<string>;
}

/** The fields of a record: controls if they may be changed, otherwise terms and definitions. */
export function RecordForm({ table, record, names, editor, marked }: Props) {
  const { fieldLabelOf } = useSystem();
  const all = pageFields(table);
  const [isAll, setAll] = useState(all.length <= MANY_FIELDS);
  // As of when the page was opened, so that fields do not disappear under the cursor.
  const [first] = useState(
    () =>
      new Set(
        all.filter((field) => !isEmpty(record[field.name]) || table.titleFields.includes(field.name)).map(({ name }) => name),
      ),
  );
  const isShown = (field: FieldModel) =>
    isAll ||
    first.has(field.name) ||
    !isEmpty(record[field.name]) ||
    (editor !== undefined && Object.hasOwn(editor.draft.fields, field.name));
  const shown = all.filter(isShown);
  const hidden = all.length - shown.length;
  const isControl = (field: FieldModel) => editor !== undefined && !field.isReadOnly && field.type !== 'Relation';
  const editable = shown.filter(isControl);
  const read = shown.filter((field) => !isControl(field));
  return (
    <>
      {editor && (
        <div className={styles.fields}>
          {editable.map((field) => (
            <FieldRow
              key={field.name}
              table={table.name}
              field={field}
              label={fieldLabelOf(table.name, field.name)}
              stored={record[field.name] ?? null}
              draft={Object.hasOwn(editor.draft.fields, field.name) ? editor.draft.fields[field.name] : undefined}
              names={names}
              isMarked={marked.has(field.name)}
              onEdit={editor.edit}
            />
          ))}
        </div>
      )}
      {read.length > 0 && (
        <dl className={styles.fields}>
          {read.map((field) => (
            <div
              key={field.name}
              className={isWide(field) ? `${styles.field} ${styles.wide}` : styles.field}
              data-marked={marked.has(field.name) || undefined}
            >
              <dt className={`label ${styles.label}`} title={words.record.technicalName(field.name)}>
                <bdi>{fieldLabelOf(table.name, field.name)}</bdi>
              </dt>
              <dd className={styles.value}>
                <ValueView field={field} value={record[field.name]} names={names} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {all.length > MANY_FIELDS && (hidden > 0 || isAll) && (
        <button
          type="button"
          className={`button button-quiet ${styles.more}`}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? words.record.fewerFields : words.record.moreFields(hidden)}
        </button>
      )}
    </>
  );
}
