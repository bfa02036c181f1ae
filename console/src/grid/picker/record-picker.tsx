import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useSearchQuery } from '../../api/reads.ts';
import { useSystem } from '../../api/system.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { gridWords } from '../words/index.ts';

const LIMIT = 20;
const TYPING_PAUSE_MS = 120;

export interface RecordPickerProps {
  readonly table: string;
  readonly chosen: readonly string[];
  /** Of the chosen ones, by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly isMany: boolean;
  /** @param names of the chosen ones, as far as they are known */
  onChange(chosen: readonly string[], names: Readonly<Record<string, string>>): void;
  onCancel?(): void;
}

/** Records of a table, found by name on the server. */
export function RecordPicker({ table, chosen, names, isMany, onChange, onCancel }: RecordPickerProps) {
  const { appId, labelOf } = useSystem();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const query = useSettled(text.trim(), TYPING_PAUSE_MS);
  const { data, isPending } = useSearchQuery(appId, query, table, LIMIT, true);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const results = data?.results ?? [];
  const current = results[Math.min(at, results.length - 1)];

  useEffect(() => input.current?.focus({ preventScroll: true }), []);

  const choose = (objectId: string, title: string) => {
    const known = { ...names, [objectId]: title };
    if (!isMany) return onChange([objectId], known);
    onChange(chosen.includes(objectId) ? chosen.filter((one) => one !== objectId) : [...chosen, objectId], known);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setAt((old) => Math.max(0, Math.min(results.length - 1, old + step)));
    } else if (event.key === 'Enter' && current) {
      event.preventDefault();
      choose(current.objectId, current.title);
    } else if (event.key === 'Escape' && onCancel) {
      event.preventDefault();
      onCancel();
    }
  };
  return (
    <div className="g-picker">
      {isMany && chosen.length > 0 ? (
        <ul className="g-picked" aria-label={gridWords.filter.records}>
          {chosen.map((id) => (
            <li key={id} className="g-chip">
              <bdi>{names[id] ?? id}</bdi>
              <button
                type="button"
                className="g-chip-remove"
                aria-label={gridWords.filter.removeRecord(names[id] ?? id)}
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
      <input
        ref={input}
        className="input"
        type="text"
        role="combobox"
        aria-label={`${gridWords.filter.findRecord}: ${labelOf(table)}`}
        aria-expanded={results.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={current ? `${list}-${current.objectId}` : undefined}
        placeholder={gridWords.filter.findRecord}
        autoComplete="off"
        dir="auto"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={labelOf(table)} aria-multiselectable={isMany} className="g-options">
        {results.map(({ objectId, title }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text box hears the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the text box keeps the focus
          <div
            key={objectId}
            id={`${list}-${objectId}`}
            role="option"
            aria-selected={chosen.includes(objectId)}
            className={`g-option${objectId === current?.objectId ? ' g-option-current' : ''}`}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(objectId, title)}
          >
            <bdi>{title || objectId}</bdi>
          </div>
        ))}
      </div>
      {results.length === 0 ? <p className="hint">{isPending ? gridWords.loading : gridWords.filter.noRecord}</p> : null}
    </div>
  );
}
