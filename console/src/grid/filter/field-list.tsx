import { useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { gridWords } from '../words/index.ts';

export interface FieldListProps {
  readonly table: string;
  readonly fields: readonly FieldModel[];
  onChoice(field: string): void;
}

/** Fields to choose one of, found by label or name. */
export function FieldList({ table, fields, onChoice }: FieldListProps) {
  const { fieldLabelOf, format } = useSystem();
  const [sought, setSought] = useState('');
  const words = gridWords.filter;
  const named = fields.map(({ name }) => ({ name, label: fieldLabelOf(table, name) }));
  const matches = named
    .filter(({ name, label }) => `${label} ${name}`.toLowerCase().includes(sought.trim().toLowerCase()))
    .sort((a, b) => format.compare(a.label, b.label));
  return (
    <Autocomplete inputValue={sought} onInputChange={setSought}>
      <SearchField aria-label={words.findField} autoFocus className="g-field">
        <Input className="input" placeholder={words.findField} />
      </SearchField>
      <Menu
        aria-label={words.field}
        className="g-menu g-field-list"
        items={matches}
        renderEmptyState={() => <p className="hint">{words.noField}</p>}
      >
        {({ name, label }) => (
          <MenuItem id={name} textValue={label} className="g-item" onAction={() => onChoice(name)}>
            <bdi>{label}</bdi>
          </MenuItem>
        )}
      </Menu>
    </Autocomplete>
  );
}
