import { Link } from 'wouter';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { useSystem } from '../api/system.tsx';
import { draftText } from '../memory/draft-text.ts';
import { removeDraft, useDraft } from '../memory/drafts.ts';
import { tableLabel } from '../model/labels.ts';
import { shortened } from '../model/text.ts';
import { Announcement } from '../ui/announcement.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { words } from '../words/index.ts';
import styles from './record.module.css';
import { RecordHead } from './record-head.tsx';

/** Shown for a record that was deleted while it was open: unsaved input can be copied. */
export function GonePage({ table, objectId, title }: { table: TableModel; objectId: string; title: string }) {
  const { appId, model, paths, fieldLabelOf } = useSystem();
  const key = { appId, userId: model.me.objectId, table: table.name, id: objectId };
  const draft = useDraft(key);
  const typed = draft ? draftText(draft, (name) => fieldLabelOf(table.name, name)) : '';
  return (
    <>
      <RecordHead table={table.name} title={title || objectId} editor={undefined} />
      <Announcement text={words.record.goneTitle} />
      <div className={styles.gone}>
        <h2 className={styles.goneTitle}>{words.record.goneTitle}</h2>
        <p>{words.record.goneText}</p>
        {draft && (
          <>
            <label className="label" htmlFor="typed">
              {words.record.goneTyped}
            </label>
            <textarea id="typed" className="input" readOnly value={typed} rows={6} />
            <div className={styles.goneActions}>
              <CopyButton text={() => typed} label={words.signIn.copyTyped} />
              <button type="button" className="button" onClick={() => removeDraft(key)}>
                {words.record.discardDraft}
              </button>
            </div>
          </>
        )}
        <p>
          <Link href={paths.grid(table.name)}>
            <bdi>{shortened(tableLabel(table), 60)}</bdi>
          </Link>
        </p>
      </div>
    </>
  );
}
