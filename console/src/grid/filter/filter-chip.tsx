import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Modal';
import type { TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { knownZone } from '../../model/format.ts';
import { Icon } from '../../ui/icons.tsx';
import { lineOf } from '../cells/cell-text.ts';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import { type Condition, inputOf } from './condition.ts';
import { ConditionForm } from './condition-form.tsx';
import { conditionText } from './condition-text.ts';
import { useNames } from './use-names.ts';

export interface FilterChipProps {
  readonly table: TableModel;
  readonly condition: Condition;
  onChange(condition: Condition): void;
  onRemove(): void;
}

/** A condition in words: a press edits it, the cross removes it. */
export function FilterChip({ table, condition, onChange, onRemove }: FilterChipProps) {
  const { format, model, fieldLabelOf } = useSystem();
  const [isOpen, setOpen] = useState(false);
  const words = gridWords.filter;
  const field = condition.kind === 'field' ? table.fields.find(({ name }) => name === condition.field) : undefined;
  const holdsRecords = condition.kind === 'field' && field && inputOf(condition.operator, field.type) === 'records';
  const names = useNames(field?.targetClass, holdsRecords ? condition.values.map(String) : []);
  const text = conditionText(condition, field, field ? fieldLabelOf(table.name, field.name) : '', {
    format,
    timeZone: knownZone(model.timeZone),
    nameOf: (id) => names[id] || id,
  });
  const value = lineOf(text.value);
  const whole = [text.label, text.operator, value].filter(Boolean).join(' ');
  return (
    <span className="g-filter">
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button className="g-filter-text">
          <span className="visually-hidden">{words.chip('')}</span> <bdi className="g-filter-label">{text.label}</bdi>{' '}
          {text.operator ? <span>{text.operator}</span> : null}{' '}
          {value ? (
            <bdi
              className={condition.kind === 'raw' ? 'g-filter-raw' : 'g-filter-value'}
              dir={condition.kind === 'raw' ? 'ltr' : 'auto'}
            >
              {value}
            </bdi>
          ) : null}
        </Button>
        <Popover placement="bottom start">
          <Dialog aria-label={words.chip(text.label)} className="g-dialog g-form">
            {condition.kind === 'field' && field ? (
              <ConditionForm
                table={table}
                field={field}
                condition={condition}
                onApply={(next) => {
                  onChange(next);
                  setOpen(false);
                }}
                onCancel={() => setOpen(false)}
              />
            ) : (
              <>
                <p className="hint">{words.advancedText}</p>
                <pre className="g-raw" dir="ltr">
                  {condition.kind === 'raw' ? JSON.stringify(condition.where, null, 2) : ''}
                </pre>
              </>
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      <Button className="g-filter-remove" aria-label={words.removeChip(whole)} onPress={onRemove}>
        <Icon name="close" size={12} />
      </Button>
    </span>
  );
}
