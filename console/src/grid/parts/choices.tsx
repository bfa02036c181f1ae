import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { lineOf } from '../cells/cell-text.ts';

export interface Choice {
  readonly id: string;
  readonly text: string;
}

export interface ChoicesProps {
  /** The label of the text box. */
  readonly label: string;
  readonly placeholder: string;
  /** The label of the list. */
  readonly listLabel: string;
  readonly text: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly isMany?: boolean;
  /** The text shown if there is nothing to choose. */
  readonly note: string;
  onText(text: string): void;
  onChoice(choice: Choice): void;
  onCancel?(): void;
}

/** A text box that filters the list below it: the focus stays in the box, arrows move through the list (ARIA combobox). */
export function Choices(props: ChoicesProps) {
  const { choices, chosen, isMany = false, onChoice, onCancel } = props;
  const [at, setAt] = useState(0);
  const list = useId();
  const box = useRef<HTMLInputElement>(null);
  const current = choices[Math.min(at, choices.length - 1)];
  const optionId = (id: string) => `${list}-${id}`;

  useEffect(() => box.current?.focus({ preventScroll: true }), []);

  const go = (next: number) => {
    const to = Math.max(0, Math.min(choices.length - 1, next));
    const id = choices[to]?.id;
    setAt(to);
    if (id !== undefined) document.getElementById(optionId(id))?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') go(at + (event.key === 'ArrowDown' ? 1 : -1));
    else if (event.key === 'Enter' && current) onChoice(current);
    else if (event.key === 'Escape' && onCancel) onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <input
        ref={box}
        className="input"
        type="text"
        role="combobox"
        aria-label={props.label}
        aria-expanded={choices.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={current ? optionId(current.id) : undefined}
        placeholder={props.placeholder}
        autoComplete="off"
        spellCheck={false}
        dir="auto"
        value={props.text}
        onChange={(event) => {
          props.onText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={props.listLabel} aria-multiselectable={isMany} className="g-options">
        {choices.map((choice) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text box handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the text box keeps the focus
          <div
            key={choice.id}
            id={optionId(choice.id)}
            role="option"
            aria-selected={chosen.includes(choice.id)}
            className={choice === current ? 'g-option g-option-current' : 'g-option'}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onChoice(choice)}
          >
            <bdi>{lineOf(choice.text)}</bdi>
          </div>
        ))}
      </div>
      {choices.length === 0 ? <p className="hint">{props.note}</p> : null}
    </>
  );
}
