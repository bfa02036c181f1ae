import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Modal';
import type { TableModel } from '../../../../src/console/protocol/protocol.ts';
import { Icon } from '../../ui/icons.tsx';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import type { Condition, Filter } from './condition.ts';
import { operatorsOf } from './condition.ts';
import { ConditionForm } from './condition-form.tsx';
import { FieldList } from './field-list.tsx';
import { FilterChip } from './filter-chip.tsx';

export interface FilterBarProps {
  readonly table: TableModel;
  readonly filter: Filter;
  /** The field of a new condition that was requested elsewhere, such as in a column's menu. */
  readonly newField: string | null;
  onNewFieldDone(): void;
  onChange(filter: Filter): void;
}

/** The conditions as chips, with controls to add, change and remove them. */
export function FilterBar({ table, filter, newField, onNewFieldDone, onChange }: FilterBarProps) {
  const words = gridWords.filter;
  const { conditions, match } = filter;
  const change = (next: readonly Condition[]) => onChange({ match: next.length > 1 ? match : 'all', conditions: next });
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is not a set of fields of a form
    <div role="group" aria-label={words.title} className="g-filters">
      {conditions.map((condition, at) => (
        <span key={chipKey(condition, at)} className="g-filter-part">
          {at > 0 ? <span className="g-joint">{match === 'all' ? words.and : words.or}</span> : null}
          <FilterChip
            table={table}
            condition={condition}
            onChange={(next) => change(conditions.map((one, index) => (index === at ? next : one)))}
            onRemove={() => change(conditions.filter((_, index) => index !== at))}
          />
        </span>
      ))}
      <AddFilter
        table={table}
        newField={newField}
        onNewFieldDone={onNewFieldDone}
        onAdd={(added) => change([...conditions, added])}
      />
      {conditions.length > 1 ? (
        <select
          className="input g-match"
          aria-label={words.match}
          value={match}
          onChange={(event) => onChange({ match: event.target.value === 'any' ? 'any' : 'all', conditions })}
        >
          <option value="all">{words.all}</option>
          <option value="any">{words.any}</option>
        </select>
      ) : null}
      {conditions.length > 0 ? (
        <Button className="button button-quiet button-small" onPress={() => change([])}>
          {words.clear}
        </Button>
      ) : null}
    </div>
  );
}

interface AddFilterProps {
  readonly table: TableModel;
  readonly newField: string | null;
  onNewFieldDone(): void;
  onAdd(condition: Condition): void;
}

function AddFilter({ table, newField, onNewFieldDone, onAdd }: AddFilterProps) {
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const words = gridWords.filter;
  const name = newField ?? chosen;
  const field = table.fields.find((one) => one.name === name);
  const close = () => {
    setOpen(false);
    setChosen(null);
    onNewFieldDone();
  };
  return (
    <DialogTrigger isOpen={isOpen || newField !== null} onOpenChange={(next) => (next ? setOpen(true) : close())}>
      <Button className="button button-quiet button-small g-add-filter">
        <Icon name="filter" size={14} />
        {words.add}
      </Button>
      <Popover placement="bottom start">
        <Dialog aria-label={words.add} className="g-dialog g-form">
          {field ? (
            <ConditionForm
              table={table}
              field={field}
              condition={null}
              onApply={(condition) => {
                onAdd(condition);
                close();
              }}
              onCancel={close}
            />
          ) : (
            <FieldList
              table={table.name}
              fields={table.fields.filter((one) => operatorsOf(one).length > 0)}
              onChoice={setChosen}
            />
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

const chipKey = (condition: Condition, at: number) => `${at}-${condition.kind === 'field' ? condition.field : 'raw'}`;
