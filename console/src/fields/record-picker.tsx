import { type ReactNode, useEffect, useRef, useState } from 'react';
import { NoConnection } from '../api/failure.ts';
import { useSearchQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { directionOf, shortened } from '../model/text.ts';
import { Option, OptionPopup, useOptionList } from '../ui/option-list.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { words } from '../words/index.ts';
import styles from './fields.module.css';
import { meetName } from './use-pointer-name.ts';

const MAX_OPTIONS = 20;
const PAUSE_MS = 120;

interface Props {
  readonly id: string;
  readonly targetClass: string;
  /** The name of the chosen record, shown while nothing is typed. */
  readonly chosenName: string;
  readonly chosenId: string | null;
  readonly placeholder: string;
  readonly describedBy: string | undefined;
  /** Whether emptying the box clears the choice. */
  readonly clears: boolean;
  onChoose(objectId: string, title: string): void;
  onClear(): void;
  readonly children?: ReactNode;
}

/** A text box that searches the records of a table. */
export function RecordPicker({
  id,
  targetClass,
  chosenName,
  chosenId,
  placeholder,
  describedBy,
  clears,
  onChoose,
  onClear,
  children,
}: Props) {
  const { appId } = useSystem();
  const [typed, setTyped] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const wrapper = useRef<HTMLDivElement>(null);
  const query = useDebounced(typed?.trim() ?? '', PAUSE_MS);
  const search = useSearchQuery(appId, query, targetClass, MAX_OPTIONS, isOpen);
  const isCurrent = search.isSuccess && !search.isPlaceholderData && query === (typed?.trim() ?? '');
  const options = isOpen ? (search.data?.results ?? []) : [];
  const end = () => {
    setOpen(false);
    setTyped(null);
  };
  const choose = (index: number) => {
    const option = options[index];
    if (!option) return;
    meetName(targetClass, option.objectId, option.title);
    onChoose(option.objectId, option.title);
    end();
  };
  const chosen = options.findIndex((option) => option.objectId === chosenId);
  const list = useOptionList({
    count: options.length,
    isOpen,
    // Marks the first result once the answer belongs to the current text.
    initial: query !== '' && isCurrent ? 0 : chosen,
    onOpen: () => setOpen(true),
    onClose: end,
    onChoose: choose,
  });
  const { setActive } = list;
  useEffect(() => {
    if (!isCurrent) setActive(-1);
  }, [isCurrent, setActive]);
  const leave = () => {
    if (typed !== null && typed.trim() === '' && clears && chosenId !== null) onClear();
    end();
  };
  const note = search.isError
    ? search.error instanceof NoConnection
      ? words.shell.offline
      : words.errors.internal
    : isCurrent && options.length === 0
      ? words.fields.noMatch
      : null;
  return (
    <div ref={wrapper} className={styles.picker}>
      {children}
      <input
        id={id}
        type="text"
        role="combobox"
        className="input"
        dir={directionOf(null, typed ?? chosenName)}
        autoComplete="off"
        spellCheck={false}
        aria-expanded={isOpen}
        aria-autocomplete="list"
        aria-controls={isOpen ? list.listId : undefined}
        aria-activedescendant={list.activeDescendant}
        aria-describedby={describedBy}
        placeholder={placeholder}
        value={typed ?? shortened(chosenName, 500)}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onFocus={(event) => event.target.select()}
        onBlur={leave}
        onKeyDown={(event) => {
          list.onKeyDown(event);
          if (event.key === 'Tab' && typed?.trim() && isCurrent && list.active >= 0) choose(list.active);
        }}
      />
      {isOpen && (
        <OptionPopup
          list={list}
          label={words.search.suggestions}
          note={note ?? (options.length === 0 ? words.shell.loading : null)}
        >
          {options.map((option, index) => (
            <Option
              key={option.objectId}
              list={list}
              index={index}
              isSelected={option.objectId === chosenId}
              onChoose={() => choose(index)}
            >
              <bdi>{shortened(option.title || words.related.untitled, 200)}</bdi>
            </Option>
          ))}
        </OptionPopup>
      )}
    </div>
  );
}
