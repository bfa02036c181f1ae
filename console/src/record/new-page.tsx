import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link, useSearch } from 'wouter';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { ApiFailure } from '../api/failure.ts';
import { keys } from '../api/query-client.ts';
import { useSystem } from '../api/system.tsx';
import { createRecord } from '../api/writes.ts';
import { isDirty, writeOf } from '../memory/draft.ts';
import { draftsOf, removeDraft, useDraftVersion, writeDraft } from '../memory/drafts.ts';
import { go } from '../ui/go.ts';
import { Failure } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import { forgetNewDraft, newDraftId } from './new-draft-id.ts';
import notices from './notices.module.css';
import { Notices } from './notices.tsx';
import styles from './record.module.css';
import { RecordForm } from './record-form.tsx';
import { RecordHead } from './record-head.tsx';
import { useEditor } from './use-editor.ts';
import { useSaveKey } from './use-save-key.ts';

const NOTHING = new Set<string>();
const NO_NAMES = {};
const NO_RECORD = {};

/** The page of a record that is not created yet. Each tab has its own draft. */
export function NewPage({ table }: { table: string }) {
  const { tables } = useSystem();
  const requestedDraft = new URLSearchParams(useSearch()).get('draft');
  const id = useMemo(() => newDraftId(table, requestedDraft), [table, requestedDraft]);
  const tableModel = tables.get(table) as TableModel;
  return <NewRecord key={id} table={tableModel} draftId={id} />;
}

function NewRecord({ table, draftId }: { table: TableModel; draftId: string }) {
  const { appId, model, paths, labelOf } = useSystem();
  const client = useQueryClient();
  const userId = model.me.objectId;
  const key = { appId, userId, table: table.name, id: `new:${draftId}` };
  const editor = useEditor({
    key,
    title: '',
    send: (draft) => {
      const filled = Object.entries(writeOf(draft).changes).filter(([, value]) => value !== null);
      return createRecord(appId, table.name, { requestId: draft.requestId, fields: Object.fromEntries(filled) });
    },
    onSaved: (answer, _sent, rest) => {
      const objectId = String(answer.record.objectId);
      removeDraft(key);
      forgetNewDraft(table.name);
      // Input typed during the save becomes a change of the record.
      if (isDirty(rest)) writeDraft({ ...key, id: objectId }, rest);
      client.setQueryData(keys.record(appId, table.name, objectId), answer);
      go(paths.record(table.name, objectId), { replace: true });
    },
    onConflict: () => {},
  });
  const mayCreate = table.may.create;
  useSaveKey(mayCreate ? editor.save : null);
  return (
    <>
      <RecordHead table={table.name} title={words.record.newTitle(labelOf(table.name))} editor={mayCreate ? editor : undefined}>
        {isDirty(editor.draft) && (
          <button type="button" className="button button-quiet" onClick={editor.discard}>
            {words.record.discard}
          </button>
        )}
      </RecordHead>
      <div className={styles.columns}>
        <div className={styles.body}>
          {mayCreate ? <Notices editor={editor} /> : <Failure error={new ApiFailure(403, { code: 119 })} />}
          <OtherDrafts table={table.name} userId={userId} draftId={draftId} />
          {mayCreate && (
            <div className={`card ${styles.fields}`}>
              <RecordForm table={table} record={NO_RECORD} names={NO_NAMES} editor={editor} marked={NOTHING} />
            </div>
          )}
        </div>
      </div>
    </>
  );
}

/** Drafts of new records that were started earlier, or in another tab. */
function OtherDrafts({ table, userId, draftId }: { table: string; userId: string; draftId: string }) {
  const { appId, format, paths } = useSystem();
  useDraftVersion();
  const others = draftsOf(appId, userId).filter(
    ({ key }) => key.table === table && key.id.startsWith('new:') && key.id !== `new:${draftId}`,
  );
  return others.map(({ key, draft }) => (
    <div key={key.id} className={notices.notice}>
      <p>{words.record.orphan(format.ago(new Date(draft.changedAt)))}</p>
      <Link href={`${paths.newRecord(table)}?draft=${encodeURIComponent(key.id.slice(4))}`} className="button button-small">
        {words.record.restore}
      </Link>
      <button type="button" className="button button-quiet button-small" onClick={() => removeDraft(key)}>
        {words.record.discardDraft}
      </button>
    </div>
  ));
}
