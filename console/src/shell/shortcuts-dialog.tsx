import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words/index.ts';
import { ShortcutsList } from './shortcuts-list.tsx';

/** The dialog that `?` opens. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={words.me.shortcuts} onClose={onClose}>
      <ShortcutsList />
    </Dialog>
  );
}
