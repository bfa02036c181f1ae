import { type FormEvent, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import type { FieldModel, TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { gridWords } from '../words/index.ts';
import { type FieldCondition, inputOf, isComplete, type Operator, operatorsOf, type Values } from './condition.ts';
import { ValueInput } from './value-input.tsx';

export interface ConditionFormProps {
  readonly table: TableModel;
  readonly field: FieldModel;
  /** `null`: a new one. */
  readonly condition: FieldCondition | null;
  onApply(condition: FieldCondition): void;
  onCancel(): void;
}

/** Edits a condition on a field: an operator in words, and a value by its type. */
export function ConditionForm({ table, field, condition, onApply, onCancel }: ConditionFormProps) {
  const { fieldLabelOf } = useSystem();
  const operators = operatorsOf(field);
  const [operator, setOperator] = useState<Operator>(condition?.operator ?? operators[0] ?? 'notEmpty');
  const [values, setValues] = useState<Values>(condition?.values ?? []);
  const words = gridWords.filter;
  const input = inputOf(operator, field.type);
  const isDone = isComplete(input, values);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    if (isDone) onApply({ kind: 'field', field: field.name, operator, values: input === 'none' ? [] : values });
  };
  const choose = (next: Operator) => {
    setOperator(next);
    if (inputOf(next, field.type) !== input) setValues([]);
  };
  return (
    <form className="g-condition" onSubmit={apply}>
      <h3 className="g-dialog-title">
        <bdi>{fieldLabelOf(table.name, field.name)}</bdi>
      </h3>
      <label className="g-field">
        <span className="label">{words.operator}</span>
        <select className="input" value={operator} onChange={(event) => choose(event.target.value as Operator)}>
          {operators.map((one) => (
            <option key={one} value={one}>
              {words.operators[one]}
            </option>
          ))}
        </select>
      </label>
      <ValueInput key={input} input={input} field={field} values={values} onChange={setValues} />
      <div className="g-actions">
        <Button className="button button-small" onPress={onCancel}>
          {gridWords.cancel}
        </Button>
        <Button type="submit" className="button button-small button-main" isDisabled={!isDone}>
          {gridWords.apply}
        </Button>
      </div>
    </form>
  );
}
