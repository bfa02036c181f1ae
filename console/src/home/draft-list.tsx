import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { type DraftKey, draftsOf, removeDraft, useDraftVersion } from '../memory/drafts.ts';
import { shortened } from '../model/text.ts';
import { words } from '../words/index.ts';
import styles from './home.module.css';

/** Records with unsaved changes. */
export function DraftList() {
  const { appId, model, labelOf, paths, format } = useSystem();
  useDraftVersion();
  const drafts = draftsOf(appId, model.me.objectId);
  if (drafts.length === 0) return null;
  const nameOf = (key: DraftKey, title: string) =>
    key.id.startsWith('new:') ? words.home.newIn(labelOf(key.table)) : shortened(title || words.related.untitled, 120);
  const pathOf = (key: DraftKey) =>
    key.id.startsWith('new:')
      ? `${paths.newRecord(key.table)}?draft=${encodeURIComponent(key.id.slice(4))}`
      : paths.record(key.table, key.id);
  return (
    <section id="drafts" className={`card ${styles.card} ${styles.drafts}`} aria-labelledby="drafts-title">
      <h2 id="drafts-title" className={styles.heading}>
        {words.home.drafts}
      </h2>
      <p className={`hint ${styles.hint}`}>{words.home.draftsHint}</p>
      <ul>
        {drafts.map(({ key, draft }) => (
          <li key={`${key.table}/${key.id}`} className={styles.draft}>
            <Link href={pathOf(key)} className={styles.row}>
              <bdi className="clipped">{nameOf(key, draft.title)}</bdi>
              <span className={styles.kind}>
                <bdi>{labelOf(key.table)}</bdi> · {format.ago(new Date(draft.changedAt))}
              </span>
            </Link>
            <button type="button" className="button button-small" onClick={() => removeDraft(key)}>
              {words.record.discardDraft}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
