import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { isMissing } from '../api/failure.ts';
import { keys } from '../api/query-client.ts';
import { useRelatedQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { deleteRecord } from '../api/writes.ts';
import { removeDraft } from '../memory/drafts.ts';
import { forgetRecord } from '../memory/recent.ts';
import { shortened } from '../model/text.ts';
import { announce } from '../ui/announce.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { go } from '../ui/go.ts';
import { Failure } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import styles from './delete.module.css';

/** Asks before a record is deleted, and shows the records that point to it. */
export function DeleteDialog({
  table,
  objectId,
  title,
  onClose,
}: {
  table: TableModel;
  objectId: string;
  title: string;
  onClose: () => void;
}) {
  const { appId, labelOf, model, paths, format } = useSystem();
  const client = useQueryClient();
  const related = useRelatedQuery(appId, table.name, objectId);
  const [failure, setFailure] = useState<unknown>(null);
  const isSent = useRef(false);
  const texts = words.deletion;
  const pointing = related.data?.tables.filter((other) => other.count > 0) ?? [];
  const confirm = async () => {
    if (isSent.current) return;
    isSent.current = true;
    setFailure(null);
    try {
      await deleteRecord(appId, table.name, objectId).catch((error: unknown) => {
        // Already deleted, perhaps by another user.
        if (!isMissing(error)) throw error;
      });
      removeDraft({ appId, userId: model.me.objectId, table: table.name, id: objectId });
      forgetRecord(appId, model.me.objectId, objectId);
      onClose();
      go(paths.grid(table.name));
      announce(words.record.deleted);
      client.removeQueries({ queryKey: keys.record(appId, table.name, objectId) });
    } catch (error) {
      setFailure(error);
    } finally {
      isSent.current = false;
    }
  };
  return (
    <Dialog
      title={texts.title(shortened(title, 120))}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="button" data-first onClick={onClose}>
            {words.shell.cancel}
          </button>
          <button type="button" className="button button-danger" onClick={confirm}>
            {texts.confirm}
          </button>
        </>
      }
    >
      <p>{texts.text}</p>
      {related.isPending && <p className="hint">{texts.checking}</p>}
      {related.isSuccess && pointing.length === 0 && <p className="hint">{texts.none}</p>}
      {pointing.length > 0 && (
        <>
          <p>{texts.points}</p>
          <ul className={styles.list}>
            {pointing.map((other) => (
              <li key={other.table}>
                <Link href={paths.grid(other.table, other.where)} onClick={onClose}>
                  <bdi>{shortened(labelOf(other.table), 100)}</bdi>
                </Link>
                <span className={styles.count}>{format.number(other.count)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {failure !== null && <Failure error={failure} />}
    </Dialog>
  );
}
