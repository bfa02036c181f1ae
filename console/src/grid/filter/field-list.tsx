import { useState } from 'react';
import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { Choices } from '../parts/choices.tsx';
import { gridWords } from '../words/index.ts';

export interface FieldListProps {
  readonly table: string;
  readonly fields: readonly FieldModel[];
  onChoice(field: string): void;
}

/** A list of fields to choose one from, searchable by label or name. */
export function FieldList({ table, fields, onChoice }: FieldListProps) {
  const { fieldLabelOf, format } = useSystem();
  const [searchText, setSearchText] = useState('');
  const words = gridWords.filter;
  const matches = fields
    .map(({ name }) => ({ id: name, text: fieldLabelOf(table, name) }))
    .filter(({ id, text }) => `${text} ${id}`.toLowerCase().includes(searchText.trim().toLowerCase()))
    .sort((a, b) => format.compare(a.text, b.text));
  return (
    <div className="g-picker">
      <Choices
        label={words.findField}
        placeholder={words.findField}
        listLabel={words.field}
        text={searchText}
        choices={matches}
        chosen={[]}
        note={words.noField}
        onText={setSearchText}
        onChoice={({ id }) => onChoice(id)}
      />
    </div>
  );
}
