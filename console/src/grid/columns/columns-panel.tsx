import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Checkbox } from 'react-aria-components/Checkbox';
import { Input } from 'react-aria-components/Input';
import { Dialog, DialogTrigger } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import type { ColumnState, TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import { arranged, canMove, movedBy, titleField, usualColumns, withShown } from './columns.ts';

export interface ColumnsPanelProps {
  readonly table: TableModel;
  readonly columns: readonly ColumnState[];
  onChange(columns: readonly ColumnState[]): void;
}

/** Chooses which columns are shown, and in which order. */
export function ColumnsPanel({ table, columns, onChange }: ColumnsPanelProps) {
  const words = gridWords.columns;
  return (
    <DialogTrigger>
      <Button className="button button-small">
        <Icon name="columns" />
        <span className="g-tool-text">{words.title}</span>
      </Button>
      <Popover placement="bottom end">
        <Dialog aria-label={words.title} className="g-dialog g-columns">
          <ColumnList table={table} columns={columns} onChange={onChange} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function ColumnList({ table, columns, onChange }: ColumnsPanelProps) {
  const { fieldLabelOf, format } = useSystem();
  const [searchText, setSearchText] = useState('');
  const words = gridWords.columns;
  const title = titleField(table);
  const label = (name: string) => fieldLabelOf(table.name, name);
  const shown = columns.map(({ field }) => field);
  const hidden = table.fields
    .map(({ name }) => name)
    .filter((name) => !shown.includes(name))
    .sort((a, b) => format.compare(label(a), label(b)));
  const matches = [...shown, ...hidden].filter((name) =>
    `${label(name)} ${name}`.toLowerCase().includes(searchText.trim().toLowerCase()),
  );
  return (
    <>
      <SearchField aria-label={words.find} value={searchText} onChange={setSearchText} autoFocus className="g-field">
        <Input className="input" placeholder={words.find} />
      </SearchField>
      <ul className="g-column-list">
        {matches.map((name) => {
          const at = shown.indexOf(name);
          return (
            <li key={name} className="g-column-item">
              <Checkbox
                className="g-checkbox"
                aria-label={words.show(label(name))}
                isSelected={at >= 0}
                isDisabled={name === title}
                onChange={(isShown) => onChange(arranged(table, withShown(columns, name, isShown)))}
              >
                <span aria-hidden="true" className="g-box" />
                <span className="g-column-label">
                  <bdi>{label(name)}</bdi>
                  {label(name) === name ? null : <code dir="ltr">{name}</code>}
                </span>
              </Checkbox>
              {at > 0 && searchText === '' ? (
                <span className="g-steps">
                  {([-1, 1] as const).map((step) => (
                    <Button
                      key={step}
                      className="button button-quiet button-icon button-small"
                      isDisabled={!canMove(columns, at, step)}
                      aria-label={step < 0 ? words.moveUp(label(name)) : words.moveDown(label(name))}
                      onPress={() => onChange(movedBy(columns, at, step))}
                    >
                      <span aria-hidden="true">{step < 0 ? '↑' : '↓'}</span>
                    </Button>
                  ))}
                </span>
              ) : null}
            </li>
          );
        })}
      </ul>
      {matches.length === 0 ? <p className="hint">{words.none}</p> : null}
      <div className="g-actions">
        <Button className="button button-small" onPress={() => onChange(usualColumns(table))}>
          {words.reset}
        </Button>
      </div>
    </>
  );
}
