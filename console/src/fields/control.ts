import type { FieldModel, PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';

/** The properties of every field control. */
export interface ControlProps {
  /** The id of the control, which the label refers to. */
  readonly id: string;
  readonly labelId: string;
  readonly table: string;
  readonly field: FieldModel;
  readonly value: JsonValue;
  /** The control's text if it does not parse as a value. */
  readonly text: string | undefined;
  readonly names: PointerNames;
  readonly describedBy: string | undefined;
  /** @param text the control's text if it does not parse as a value; `value` is then the last valid one. */
  onChange(value: JsonValue, text?: string): void;
}
