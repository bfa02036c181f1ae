import type { PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { shortened } from '../model/text.ts';
import { type PointerValue, pointerOf, wirePointer } from '../model/values.ts';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import type { ControlProps } from './control.ts';
import styles from './fields.module.css';
import { RecordPicker } from './record-picker.tsx';
import { usePointerName } from './use-pointer-name.ts';

/** Chooses several records of another table, for fields `array_…_Pointer_…`. Items that are not Pointers stay unchanged. */
export function PointersControl({ id, field, value, names, describedBy, onChange }: ControlProps) {
  const items = Array.isArray(value) ? value : [];
  const target = field.targetClass ?? '';
  const remove = (item: JsonValue) => onChange(items.filter((other) => other !== item));
  const add = (objectId: string) => {
    if (!items.some((item) => pointerOf(item)?.objectId === objectId)) onChange([...items, wirePointer(target, objectId)]);
  };
  return (
    <RecordPicker
      id={id}
      targetClass={target}
      chosenName=""
      chosenId={null}
      placeholder={words.fields.add}
      describedBy={describedBy}
      clears={false}
      onChoose={add}
      onClear={() => {}}
    >
      {items.length > 0 && (
        <ul className={styles.chips}>
          {items.map((item) => (
            <Chip key={JSON.stringify(item)} pointer={pointerOf(item)} raw={item} names={names} onRemove={() => remove(item)} />
          ))}
        </ul>
      )}
    </RecordPicker>
  );
}

function Chip({
  pointer,
  raw,
  names,
  onRemove,
}: {
  pointer: PointerValue | null;
  raw: JsonValue;
  names: PointerNames;
  onRemove: () => void;
}) {
  const known = usePointerName(pointer, names);
  const name = shortened(known ?? pointer?.objectId ?? JSON.stringify(raw), 80);
  return (
    <li className={styles.chip}>
      <bdi>{name}</bdi>
      <button type="button" className={styles.remove} aria-label={words.fields.removeItem(name)} onClick={onRemove}>
        <Icon name="close" size={12} />
      </button>
    </li>
  );
}
