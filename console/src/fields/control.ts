import type { FieldModel, PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';

/** What every control of a field gets. */
export interface ControlProps {
  /** Of the control: the label points at it. */
  readonly id: string;
  readonly labelId: string;
  readonly table: string;
  readonly field: FieldModel;
  readonly value: JsonValue;
  /** What stands in the control where it does not read as a value. */
  readonly text: string | undefined;
  readonly names: PointerNames;
  readonly describedBy: string | undefined;
  /** @param text what stands in the control where it does not read as a value; then `value` is the last that did. */
  onChange(value: JsonValue, text?: string): void;
}
