import { words } from '../words/index.ts';
import type { ControlProps } from './control.ts';
import styles from './fields.module.css';

/** A choice of yes or no. */
export function BooleanControl({ id, value, describedBy, onChange }: ControlProps) {
  return (
    <span className={styles.boolean}>
      <input
        id={id}
        type="checkbox"
        className="checkbox"
        checked={value === true}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span aria-hidden="true">{value === true ? words.fields.yes : words.fields.no}</span>
    </span>
  );
}
