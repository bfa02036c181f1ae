import { type ReactNode, useRef, useState } from 'react';
import { describe } from '../api/describe.ts';
import { useSearchQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { recentRecords } from '../memory/recent.ts';
import { directionOf, shortened } from '../model/text.ts';
import { Announcement } from '../ui/announcement.tsx';
import { go } from '../ui/go.ts';
import { Icon } from '../ui/icons.tsx';
import { Option, OptionPopup, useOptionList } from '../ui/option-list.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { words } from '../words/index.ts';
import { groupsOf } from './groups.ts';
import { Result } from './result.tsx';
import styles from './search-box.module.css';

const MAX_SUGGESTIONS = 12;
const PAUSE_MS = 150;

/** The banner's search over all tables, with suggestions. Enter without a choice opens the page of results. */
export function SearchBox() {
  const { appId, model, paths } = useSystem();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const query = useDebounced(text.trim(), PAUSE_MS);
  const search = useSearchQuery(appId, query, '', MAX_SUGGESTIONS, isOpen && query !== '');
  const recent = isOpen && text.trim() === '' ? recentRecords(appId, model.me.objectId).slice(0, 6) : [];
  const isCurrent = query === text.trim() && query !== '' && !search.isPlaceholderData && search.isSuccess;
  const found = text.trim() === '' ? recent.map((record) => ({ ...record, matched: {} })) : (search.data?.results ?? []);
  const groups = groupsOf(found);
  const results = groups.flatMap((group) => group.results);
  const close = () => setOpen(false);
  const choose = (index: number) => {
    const result = results[index];
    if (!result) return;
    close();
    setText('');
    list.setActive(-1);
    go(paths.record(result.table, result.objectId));
  };
  const list = useOptionList({
    count: results.length,
    isOpen,
    initial: -1,
    onOpen: () => setOpen(true),
    onClose: close,
    onChoose: choose,
  });
  const submit = () => {
    if (!text.trim()) return;
    close();
    go(`${paths.page('search')}?q=${encodeURIComponent(text.trim())}`);
  };
  const isEmpty = isCurrent && results.length === 0;
  const failure = search.isError && text.trim() !== '' ? describe(search.error).text : null;
  const isShown = isOpen && (results.length > 0 || isEmpty || failure !== null);
  let index = -1;
  return (
    <search className={styles.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <span className={styles.icon}>
          <Icon name="search" />
        </span>
        <input
          ref={input}
          type="search"
          className={`input ${styles.input}`}
          aria-label={words.search.label}
          aria-autocomplete="list"
          aria-controls={isShown ? list.listId : undefined}
          aria-activedescendant={list.activeDescendant}
          placeholder={words.search.placeholder}
          autoComplete="off"
          spellCheck={false}
          enterKeyHint="search"
          dir={directionOf(null, text)}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            list.setActive(-1);
            setOpen(true);
          }}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onBlur={close}
          onKeyDown={(event) => {
            if (list.onKeyDown(event)) return;
            if (event.key === 'Escape') {
              event.preventDefault();
              if (text) setText('');
              else input.current?.blur();
            }
          }}
        />
        {!text && (
          <span className={`kbd ${styles.key}`} aria-hidden="true">
            Ctrl K
          </span>
        )}
      </form>
      {isShown && (
        <OptionPopup
          list={list}
          label={words.search.suggestions}
          note={
            failure ??
            (isEmpty ? words.search.none(shortened(query, 100)) : search.data?.isPartial && text ? words.search.partial : null)
          }
        >
          {groups.map((group) => (
            <Group key={group.table} table={group.table}>
              {group.results.map((result) => {
                const at = ++index;
                return (
                  <Option key={result.objectId} list={list} index={at} onChoose={() => choose(at)}>
                    <Result result={result} query={query} />
                  </Option>
                );
              })}
            </Group>
          ))}
        </OptionPopup>
      )}
      {isOpen && isCurrent && (
        <Announcement text={results.length ? words.search.found(results.length) : words.search.none(shortened(query, 100))} />
      )}
    </search>
  );
}

function Group({ table, children }: { table: string; children: ReactNode }) {
  const { labelOf } = useSystem();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options
    <div role="group" aria-label={labelOf(table)}>
      <div className={styles.group} aria-hidden="true">
        <bdi>{labelOf(table)}</bdi>
      </div>
      {children}
    </div>
  );
}
