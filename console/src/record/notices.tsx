import { useState } from 'react';
import { useStatus } from '../api/status.ts';
import { useSystem } from '../api/system.tsx';
import { isDirty } from '../memory/draft.ts';
import { Failure } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import styles from './notices.module.css';
import type { Editor } from './use-editor.ts';

/** Notices about the draft as a whole: restored, waiting, refused. */
export function Notices({ editor }: { editor: Editor }) {
  const { format } = useSystem();
  const { isOffline } = useStatus();
  const { draft } = editor;
  // Set if the draft was typed before the page was opened.
  const [restoredAt] = useState(() => (isDirty(draft) ? draft.changedAt : null));
  const isRestored = restoredAt !== null && isDirty(draft);
  return (
    <>
      {draft.isWaiting && isOffline && <p className={styles.notice}>{words.record.waiting}</p>}
      {isRestored && (
        <div className={styles.notice}>
          <p>{words.record.restored(format.ago(new Date(restoredAt)))}</p>
          <button type="button" className="button button-small" onClick={editor.discard}>
            {words.record.discardDraft}
          </button>
        </div>
      )}
      {editor.hasInvalid && <p className={styles.notice}>{words.record.invalid}</p>}
      {editor.failure !== null && <Failure error={editor.failure} />}
    </>
  );
}
