import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { RecordAnswer, TableModel } from '../../../src/console/protocol/protocol.ts';
import { keys, outdate } from '../api/query-client.ts';
import { useSystem } from '../api/system.tsx';
import { updateRecord } from '../api/writes.ts';
import { writeOf } from '../memory/draft.ts';
import { go } from '../ui/go.ts';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { duplicate } from './duplicate.ts';
import { Notices } from './notices.tsx';
import styles from './record.module.css';
import { RecordForm } from './record-form.tsx';
import { RecordHead } from './record-head.tsx';
import { Related } from './related.tsx';
import { SystemFacts } from './system-facts.tsx';
import { Timeline } from './timeline.tsx';
import { useEditor } from './use-editor.ts';
import { type OwnWrite, useMarks } from './use-marks.ts';
import { useSaveKey } from './use-save-key.ts';

interface Props {
  readonly table: TableModel;
  readonly objectId: string;
  readonly answer: RecordAnswer;
  readonly title: string;
}

/** An existing record: its fields, its history, and the records that point to it. */
export function RecordView({ table, objectId, answer, title }: Props) {
  const { appId, model, paths } = useSystem();
  const client = useQueryClient();
  const own = useRef<OwnWrite | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const marked = useMarks(table.name, answer.record, own);
  const key = { appId, userId: model.me.objectId, table: table.name, id: objectId };
  const show = (next: RecordAnswer) => client.setQueryData<RecordAnswer>(keys.record(appId, table.name, objectId), next);
  const editor = useEditor({
    key,
    title,
    send: async (draft) => {
      // An answer requested before the write would show the old state.
      await client.cancelQueries({ queryKey: keys.record(appId, table.name, objectId) });
      const write = writeOf(draft);
      own.current = { changes: write.changes, updatedAt: null };
      return await updateRecord(appId, table.name, objectId, write);
    },
    onSaved: (next, sent) => {
      own.current = { changes: sent, updatedAt: next.record.updatedAt };
      show(next);
      outdate({ queryKey: keys.history(appId, table.name, objectId) });
    },
    onConflict: ({ record, names, may }) => {
      show({ record, names, may });
    },
  });
  const mayUpdate = answer.may.update;
  useSaveKey(mayUpdate ? editor.save : null);
  return (
    <>
      <RecordHead table={table.name} title={title} editor={mayUpdate ? editor : undefined}>
        {answer.may.delete && (
          <button type="button" className="button button-quiet" onClick={() => setDeleting(true)}>
            <Icon name="trash" />
            <span className={styles.word}>{words.record.remove}</span>
          </button>
        )}
        {table.may.create && (
          <>
            <button type="button" className="button button-quiet" onClick={() => duplicate(key, table, answer.record, paths)}>
              <Icon name="copy" />
              <span className={styles.word}>{words.record.duplicate}</span>
            </button>
            <button type="button" className="button" onClick={() => go(paths.newRecord(table.name))}>
              <Icon name="plus" />
              {words.record.new}
            </button>
          </>
        )}
      </RecordHead>
      <div className={styles.columns}>
        <div className={styles.body}>
          {mayUpdate ? <Notices editor={editor} /> : <p className="hint">{words.record.readOnly}</p>}
          <div className={`card ${styles.fields}`}>
            <RecordForm
              table={table}
              record={answer.record}
              names={answer.names}
              marked={marked}
              {...(mayUpdate ? { editor } : {})}
            />
          </div>
          <SystemFacts record={answer.record} names={answer.names} />
        </div>
        <div className={styles.side}>
          <Timeline table={table} objectId={objectId} />
          <Related table={table.name} objectId={objectId} />
        </div>
      </div>
      {editor.conflict && <ConflictDialog table={table} editor={editor} conflict={editor.conflict} />}
      {isDeleting && <DeleteDialog table={table} objectId={objectId} title={title} onClose={() => setDeleting(false)} />}
    </>
  );
}
