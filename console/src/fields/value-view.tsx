import { Link } from 'wouter';
import type { FieldModel, PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { isEmpty } from '../model/record.ts';
import { shortened } from '../model/text.ts';
import { dateOf, fileOf, type PointerValue, pointerName, pointerOf } from '../model/values.ts';
import { FieldText } from '../ui/text.tsx';
import { words } from '../words/index.ts';
import styles from './fields.module.css';
import { FileView } from './file-view.tsx';
import { metName } from './use-pointer-name.ts';

/** Longer texts are shown in full only in their control. */
const MAX_LENGTH = 20_000;

interface Props {
  readonly field: FieldModel;
  readonly value: JsonValue | undefined;
  readonly names: PointerNames;
  /** Cuts longer texts and disables links. */
  readonly maxLength?: number;
}

/** Shows a value read-only: as text, link or picture. */
export function ValueView({ field, value, names, maxLength }: Props) {
  const { format } = useSystem();
  if (field.type === 'Relation' && maxLength === undefined) return <span className="hint">{words.fields.relation}</span>;
  if (value === undefined || isEmpty(value)) return <span className={styles.none}>{words.fields.none}</span>;
  if (typeof value === 'boolean') return value ? words.fields.yes : words.fields.no;
  if (typeof value === 'number') return <bdi dir="ltr">{format.number(value)}</bdi>;
  if (typeof value === 'string')
    return (
      <FieldText field={field} isLinked={maxLength === undefined}>
        {shortened(value, maxLength ?? MAX_LENGTH)}
      </FieldText>
    );
  const pointer = pointerOf(value);
  if (pointer) return <PointerLink pointer={pointer} names={names} />;
  const date = dateOf(value);
  if (date) return <time dateTime={date.toISOString()}>{format.date(date)}</time>;
  const file = fileOf(value);
  if (file) return <FileView file={file} />;
  if (Array.isArray(value) && value.every((item) => pointerOf(item))) {
    return (
      <span className={styles.chips}>
        {value.map((item) => (
          <span key={JSON.stringify(item)} className={styles.chip}>
            <PointerLink pointer={pointerOf(item) as PointerValue} names={names} />
          </span>
        ))}
      </span>
    );
  }
  return (
    <code className={styles.json} dir="ltr">
      {shortened(JSON.stringify(value, null, maxLength ? 0 : 2), maxLength ?? MAX_LENGTH)}
    </code>
  );
}

/** Links to the record of a Pointer by its name. A record without a name in the answer is deleted or closed to the user. */
export function PointerLink({ pointer, names }: { pointer: PointerValue; names: PointerNames }) {
  const { paths, tables } = useSystem();
  const name = pointerName(pointer, names) ?? metName(pointer);
  const text = <bdi>{shortened(name ?? pointer.objectId, 200)}</bdi>;
  if (name === null || !tables.has(pointer.className)) return text;
  return <Link href={paths.record(pointer.className, pointer.objectId)}>{text}</Link>;
}
