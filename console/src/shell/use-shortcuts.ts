import { useEffect } from 'react';
import { useSystem } from '../api/system.tsx';
import { hasSingleKeys } from '../memory/preferences.ts';
import { go } from '../ui/go.ts';

/** Shortcuts of every page. Those without Ctrl are inactive while the user types or moves in a grid. */
export function useShortcuts(table: string | null, onHelp: () => void): void {
  const { paths, tables } = useSystem();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.code === 'KeyK') {
        event.preventDefault();
        focusSearch();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !hasSingleKeys()) return;
      // Compared by physical position too: a Hebrew layout has other letters there.
      if (event.key === '?') onHelp();
      else if (event.key === '/' || (event.code === 'Slash' && !event.shiftKey)) focusSearch();
      else if (event.code === 'KeyN' && table && tables.get(table)?.may.create) go(paths.newRecord(table));
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [paths, tables, table, onHelp]);
}

function focusSearch(): void {
  const box = document.querySelector<HTMLInputElement>('header [type=search]');
  box?.focus();
  box?.select();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=grid], [role=spinbutton]') !== null
  );
}
