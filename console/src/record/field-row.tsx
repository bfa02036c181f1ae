import { memo, useId, useState } from 'react';
import type { FieldModel, PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { FieldControl, isGroup } from '../fields/field-control.tsx';
import { readText } from '../fields/read.ts';
import { ValueView } from '../fields/value-view.tsx';
import type { FieldDraft } from '../memory/draft.ts';
import { isWide } from '../model/record.ts';
import { sameValue } from '../model/values.ts';
import { words } from '../words/index.ts';
import styles from './form.module.css';

interface Props {
  readonly table: string;
  readonly field: FieldModel;
  readonly label: string;
  readonly stored: JsonValue;
  readonly draft: FieldDraft | undefined;
  readonly names: PointerNames;
  /** Whether another user has just changed it. */
  readonly isMarked: boolean;
  onEdit(name: string, seen: JsonValue, value: JsonValue, text?: string): void;
}

/**
 * A field: label, control and messages. Values saved by others never replace typed input, nor the value of the focused control; the latter is updated
 * when the control is left.
 */
export const FieldRow = memo(function FieldRow({ table, field, label, stored, draft, names, isMarked, onEdit }: Props) {
  const ids = useId();
  const [held, setHeld] = useState<{ readonly value: JsonValue } | null>(null);
  const seen = held ? held.value : stored;
  const value = draft ? draft.value : seen;
  const theirs = !sameValue(stored, draft ? draft.base : seen) && !sameValue(stored, value);
  const problem = draft?.text === undefined ? null : problemOf(draft.text, field);
  const described = [theirs && `${ids}-theirs`, problem && `${ids}-problem`].filter(Boolean).join(' ');
  const title = words.record.technicalName(field.name);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only tracks the focus
    <div
      className={isWide(field) ? `${styles.field} ${styles.wide}` : styles.field}
      data-changed={draft !== undefined || undefined}
      data-marked={isMarked || undefined}
      onFocus={() => setHeld((current) => current ?? { value: stored })}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setHeld(null);
      }}
    >
      {isGroup(field.type) ? (
        <span className={`label ${styles.label}`} id={`${ids}-label`} title={title}>
          <bdi>{label}</bdi>
        </span>
      ) : (
        <label className={`label ${styles.label}`} id={`${ids}-label`} htmlFor={ids} title={title}>
          <bdi>{label}</bdi>
        </label>
      )}
      <FieldControl
        id={ids}
        labelId={`${ids}-label`}
        table={table}
        field={field}
        value={value}
        text={draft?.text}
        names={names}
        describedBy={described || undefined}
        onChange={(next, text) => onEdit(field.name, seen, next, text)}
      />
      {problem && (
        <p className="problem" id={`${ids}-problem`}>
          {problem}
        </p>
      )}
      {theirs && (
        <div className={styles.theirs} id={`${ids}-theirs`}>
          {words.record.theirsNow} <ValueView field={field} value={stored} names={names} maxLength={300} />
        </div>
      )}
    </div>
  );
});

function problemOf(text: string, field: FieldModel): string | null {
  if (field.type === 'Date') return words.fields.notDate(text);
  const reading = readText(text, field.type);
  if ('value' in reading) return null;
  if (reading.problem === 'number') return words.fields.notNumber;
  if (reading.problem === 'list') return words.fields.notList;
  if (reading.problem === 'object') return words.fields.notObject;
  return words.fields.notJson(reading.why ?? '');
}
