import type { FieldModel, PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../../src/kernel/json.ts';
import { useSystem } from '../../api/system.tsx';
import { isLtr } from '../../model/text.ts';
import { pointerName, pointerOf } from '../../model/values.ts';
import { gridWords } from '../words/index.ts';
import { cellText, isBlank, lineOf, textOfHtml } from './cell-text.ts';

const MAX_CHIPS = 4;

export interface CellContentProps {
  readonly value: JsonValue;
  readonly field: FieldModel;
  readonly names: PointerNames;
}

/** Shows a value in a cell, always as text. */
export function CellContent({ value, field, names }: CellContentProps) {
  const { format } = useSystem();
  if (isBlank(value)) return null;
  const { yes, no } = gridWords.rows;
  switch (field.type) {
    case 'Boolean':
      return <BooleanMark value={value === true} />;
    case 'Pointer':
      return <PointerChip value={value} names={names} />;
    case 'Array':
      if (field.targetClass && Array.isArray(value)) return <PointerChips values={value} names={names} />;
      break;
    case 'Number':
    case 'Date':
      return <span className="g-plain">{cellText(value, field, names, { format, yes, no })}</span>;
    case 'File':
    case 'PrivateFile':
      return (
        <bdi className="g-text g-file" dir="ltr">
          {lineOf(cellText(value, field, names, { format, yes, no }))}
        </bdi>
      );
    case 'Object':
    case 'ACL':
    case 'Relation':
      return (
        <code className="g-text" dir="ltr">
          {lineOf(JSON.stringify(value))}
        </code>
      );
    case 'HTML/XML':
      return (
        <span className="g-text" dir="auto">
          {lineOf(textOfHtml(String(value)))}
        </span>
      );
  }
  const text = lineOf(cellText(value, field, names, { format, yes, no }));
  return (
    <span className="g-text" dir={isLtr(field, text) ? 'ltr' : 'auto'}>
      {text}
    </span>
  );
}

function BooleanMark({ value }: { value: boolean }) {
  return (
    <span
      className={value ? 'g-check g-check-on' : 'g-check'}
      role="img"
      aria-label={value ? gridWords.rows.yes : gridWords.rows.no}
    >
      {value ? '✓' : '–'}
    </span>
  );
}

function PointerChip({ value, names }: { value: JsonValue; names: PointerNames }) {
  const pointer = pointerOf(value);
  if (!pointer) return null;
  const name = pointerName(pointer, names);
  return (
    <span className="g-chip" dir={name ? 'auto' : 'ltr'}>
      {name ? lineOf(name) : pointer.objectId}
    </span>
  );
}

function PointerChips({ values, names }: { values: readonly JsonValue[]; names: PointerNames }) {
  const pointers = values.map((value) => pointerOf(value)).filter((one) => one !== null);
  const shown = pointers.slice(0, MAX_CHIPS);
  return (
    <span className="g-chips">
      {shown.map((pointer) => (
        <span key={pointer.objectId} className="g-chip" dir="auto">
          {lineOf(pointerName(pointer, names) ?? pointer.objectId)}
        </span>
      ))}
      {pointers.length > shown.length ? (
        <span className="g-more">{gridWords.filter.moreNames(pointers.length - shown.length)}</span>
      ) : null}
    </span>
  );
}
