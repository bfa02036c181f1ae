import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import styles from './option-list.module.css';

/** The list of options below a text box: which is marked, and what keys do. */
export interface OptionList {
  readonly listId: string;
  /** -1: none. */
  readonly active: number;
  optionId(index: number): string;
  setActive(index: number): void;
  /** @returns whether the list handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
  /** For the text box. */
  readonly activeDescendant: string | undefined;
}

interface Options {
  readonly count: number;
  readonly isOpen: boolean;
  /** The option that is marked when the list opens or its options change. */
  readonly initial: number;
  onOpen(): void;
  onClose(): void;
  onChoose(index: number): void;
}

/** Handles arrows, Enter and Esc of a text box with options (ARIA: `aria-activedescendant`). */
export function useOptionList({ count, isOpen, initial, onOpen, onClose, onChoose }: Options): OptionList {
  const listId = useId();
  const [marked, setMarked] = useState(initial);
  const active = isOpen && marked < count ? marked : -1;
  useEffect(() => setMarked(initial), [initial]);
  const optionId = (index: number) => `${listId}-${index}`;
  const move = (step: number) => {
    if (!isOpen) onOpen();
    else if (count > 0) setMarked(active < 0 ? (step > 0 ? 0 : count - 1) : (active + step + count) % count);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (event.nativeEvent.isComposing) return false;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event.key === 'ArrowDown' ? 1 : -1);
    else if (event.key === 'Enter' && active >= 0) onChoose(active);
    else if (event.key === 'Escape' && isOpen) onClose();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    listId,
    active,
    optionId,
    setActive: setMarked,
    onKeyDown,
    activeDescendant: active >= 0 ? optionId(active) : undefined,
  };
}

/** The popup. It contains `Option`s, perhaps in groups. */
export function OptionPopup({
  list,
  label,
  children,
  note,
}: {
  list: OptionList;
  label: string;
  children: ReactNode;
  note?: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the text box keeps the focus
    <div className={styles.popup} onMouseDown={(event) => event.preventDefault()} role="presentation">
      <div id={list.listId} role="listbox" aria-label={label} className={styles.list}>
        {children}
      </div>
      {note && <div className={styles.note}>{note}</div>}
    </div>
  );
}

export function Option({
  list,
  index,
  onChoose,
  children,
  isSelected = false,
}: {
  list: OptionList;
  index: number;
  onChoose: () => void;
  children: ReactNode;
  isSelected?: boolean;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const isActive = list.active === index;
  useEffect(() => {
    if (isActive) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the text box handles the keys
    <div
      ref={ref}
      id={list.optionId(index)}
      role="option"
      tabIndex={-1}
      aria-selected={isActive || isSelected}
      data-active={isActive || undefined}
      className={styles.option}
      onMouseMove={() => list.setActive(index)}
      onClick={onChoose}
    >
      {children}
    </div>
  );
}
