import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { shortened } from '../model/text.ts';
import { pointerOf, wirePointer } from '../model/values.ts';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import type { ControlProps } from './control.ts';
import styles from './fields.module.css';
import { RecordPicker } from './record-picker.tsx';
import { usePointerName } from './use-pointer-name.ts';

/** Chooses one record of another table. */
export function PointerControl({ id, field, value, names, describedBy, onChange }: ControlProps) {
  const { paths, tables } = useSystem();
  const pointer = pointerOf(value);
  const name = usePointerName(pointer, names);
  const target = field.targetClass ?? pointer?.className ?? '';
  const shown = pointer ? (name ?? pointer.objectId) : '';
  return (
    <div className={styles.pointer}>
      <RecordPicker
        id={id}
        targetClass={target}
        chosenName={shown}
        chosenId={pointer?.objectId ?? null}
        placeholder={words.fields.choose}
        describedBy={describedBy}
        clears
        onChoose={(objectId) => onChange(wirePointer(target, objectId))}
        onClear={() => onChange(null)}
      />
      {pointer && (
        <button
          type="button"
          className="button button-quiet button-icon button-small"
          aria-label={words.fields.clear}
          onClick={() => onChange(null)}
        >
          <Icon name="close" size={14} />
        </button>
      )}
      {pointer && tables.has(pointer.className) && (
        <Link
          href={paths.record(pointer.className, pointer.objectId)}
          className="button button-quiet button-icon button-small"
          aria-label={words.record.open(shortened(shown, 100))}
          title={words.record.open(shortened(shown, 100))}
        >
          <Icon name="open" />
        </Link>
      )}
    </div>
  );
}
