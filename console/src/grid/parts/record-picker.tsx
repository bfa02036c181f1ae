import { useState } from 'react';
import { useSearchQuery } from '../../api/reads.ts';
import { useSystem } from '../../api/system.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { lineOf } from '../cells/cell-text.ts';
import { gridWords } from '../words/index.ts';
import { Choices } from './choices.tsx';

const LIMIT = 20;
const TYPING_PAUSE_MS = 120;

export interface RecordPickerProps {
  readonly table: string;
  readonly chosen: readonly string[];
  /** Names of the chosen records, by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly isMany: boolean;
  /** @param names of the chosen records, as far as they are known */
  onChange(chosen: readonly string[], names: Readonly<Record<string, string>>): void;
  onCancel?(): void;
}

/** Chooses records of a table, which the server finds by name. */
export function RecordPicker({ table, chosen, names, isMany, onChange, onCancel }: RecordPickerProps) {
  const { appId, labelOf } = useSystem();
  const [text, setText] = useState('');
  const query = useDebounced(text.trim(), TYPING_PAUSE_MS);
  const { data, isPending, isPlaceholderData } = useSearchQuery(appId, query, table, LIMIT, true);
  const words = gridWords.filter;
  const found = (data?.results ?? []).map(({ objectId, title }) => ({ id: objectId, text: title || objectId }));
  const searchText = text.trim();
  // Until the answer arrives, the results of the previous text that still match are shown.
  const choices =
    query === searchText && !isPlaceholderData
      ? found
      : found.filter((choice) => choice.text.toLowerCase().includes(searchText.toLowerCase()));
  const choose = (objectId: string, title: string) => {
    const known = { ...names, [objectId]: title };
    if (!isMany) return onChange([objectId], known);
    onChange(chosen.includes(objectId) ? chosen.filter((one) => one !== objectId) : [...chosen, objectId], known);
  };
  return (
    <div className="g-picker">
      {isMany && chosen.length > 0 ? (
        <ul className="g-picked" aria-label={words.records}>
          {chosen.map((id) => (
            <li key={id} className="g-chip">
              <bdi>{lineOf(names[id] || id)}</bdi>
              <button
                type="button"
                className="g-chip-remove"
                aria-label={words.removeRecord(lineOf(names[id] || id))}
                onClick={() =>
                  onChange(
                    chosen.filter((one) => one !== id),
                    names,
                  )
                }
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <Choices
        label={`${words.findRecord}: ${labelOf(table)}`}
        placeholder={words.findRecord}
        listLabel={labelOf(table)}
        text={text}
        choices={choices}
        chosen={chosen}
        isMany={isMany}
        note={isPending ? gridWords.loading : words.noRecord}
        onText={setText}
        onChoice={({ id, text: title }) => choose(id, title)}
        {...(onCancel ? { onCancel } : {})}
      />
    </div>
  );
}
