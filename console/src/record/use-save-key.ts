import { useEffect } from 'react';

/** Saves with Ctrl+S, wherever the focus is. */
export function useSaveKey(save: (() => void) | null): void {
  useEffect(() => {
    if (!save) return;
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.code !== 'KeyS' || event.altKey || event.shiftKey) return;
      event.preventDefault();
      save();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [save]);
}
