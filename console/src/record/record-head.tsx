import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { isDirty } from '../memory/draft.ts';
import { shortened } from '../model/text.ts';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import styles from './record-head.module.css';
import type { Editor } from './use-editor.ts';

const MAX_TITLE = 300;

/** The top of a record's page: the link back to its table, its title, its actions. */
export function RecordHead({
  table,
  title,
  editor,
  children,
}: {
  table: string;
  title: string;
  editor: Editor | undefined;
  children?: ReactNode;
}) {
  const { labelOf, paths } = useSystem();
  return (
    <div className={styles.head}>
      <title>{`${shortened(title, 100)} – ${shortened(labelOf(table), 60)}`}</title>
      <div className={styles.titles}>
        <Link href={paths.grid(table)} className={styles.table}>
          <bdi className="clipped">{labelOf(table)}</bdi>
          <Icon name="chevron" size={12} />
        </Link>
        <h1 className={styles.title} title={title.length > 60 ? shortened(title, 1000) : undefined}>
          <bdi>{shortened(title, MAX_TITLE)}</bdi>
        </h1>
      </div>
      <div className={styles.actions}>
        {editor && <SaveState editor={editor} />}
        {children}
        {editor && (
          <button
            type="button"
            className={isDirty(editor.draft) ? 'button button-main' : 'button'}
            aria-keyshortcuts="Control+S"
            onClick={() => editor.save()}
          >
            {words.record.save}
          </button>
        )}
      </div>
    </div>
  );
}

function SaveState({ editor }: { editor: Editor }) {
  if (editor.isSaving) return <span className={styles.state}>{words.record.saving}</span>;
  if (!isDirty(editor.draft)) return null;
  return (
    <span className={styles.state}>
      <span className={styles.dot} aria-hidden="true" />
      {words.record.unsaved}
    </span>
  );
}
